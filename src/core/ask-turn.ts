import type { Agent, Phase } from './agent.ts';
import type { UploadRules } from './ask.ts';
import type { Run } from './run.ts';
import { workFoldersOf } from './work-folders.ts';

/** A turn in which an agent waits for the answer of a person. */
export interface AskTurn {
  readonly kind: 'sleep';
  readonly agent: string;
  readonly why: 'ask';
  readonly ask: string;
  readonly state: string;
  /** When the question is over without an answer; null for never. */
  readonly untilMs: number | null;
  readonly taskFolder: string | null;
  /** What the question says about files from the person; null if nothing. */
  readonly uploads: UploadRules | null;
}

/** The wait of an agent for the answer to its question. */
export function askTurnOf(run: Run, agent: Agent, phase: Extract<Phase, { kind: 'asking' }>): AskTurn {
  const { ask, untilMs, question } = phase;
  const { taskFolder } = workFoldersOf(run, agent);
  const { uploads } = question;
  return { kind: 'sleep', agent: agent.id, why: 'ask', ask, state: agent.state, untilMs, taskFolder, uploads };
}
