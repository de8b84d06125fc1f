import type { UploadRules } from '../../language/ask.ts';
import type { Choices } from '../../language/choices.ts';
import type { Agent, Phase } from '../run/agent.ts';
import type { Run } from '../run/run.ts';
import { workFoldersOf } from '../run/work-folders.ts';

/** A turn in which an agent waits for the answer of a person. */
export interface AskTurn {
  readonly kind: 'sleep';
  readonly agent: string;
  readonly why: 'ask';
  readonly ask: string;
  readonly state: string;
  /** When the question is over without an answer; null for never. */
  readonly untilMs: number | null;
  /** The time that there was for an answer at first; null for any. */
  readonly mostMs: number | null;
  readonly taskFolder: string | null;
  /** The files that the question asks for; null for none. */
  readonly uploads: UploadRules | null;
  /** The answers that it offers; null for any. */
  readonly choices: Choices | null;
}

/** The wait of an agent for the answer to its question. */
export function askTurnOf(run: Run, agent: Agent, phase: Extract<Phase, { kind: 'asking' }>): AskTurn {
  const { ask, untilMs, question } = phase;
  const { taskFolder } = workFoldersOf(run, agent);
  const { uploads, choices } = question;
  return {
    kind: 'sleep',
    agent: agent.id,
    why: 'ask',
    ask,
    state: agent.state,
    untilMs,
    mostMs: question.timeoutMs,
    taskFolder,
    uploads,
    choices,
  };
}
