import type { UploadRules } from '../../language/ask.ts';
import type { Choices } from '../../language/choices.ts';
import type { PermissionRequest } from '../../language/permission.ts';
import type { WaitingAsk } from '../run/permission.ts';
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
  /** The call of a tool that it is about; null for a question of the workflow. */
  readonly permission: PermissionRequest | null;
}

/** The wait of an agent for the answer to its question. */
export function askTurnOf(run: Run, { agent, ask, untilMs, question }: WaitingAsk): AskTurn {
  const { taskFolder } = workFoldersOf(run, agent);
  const { uploads, choices, permission, timeoutMs: mostMs } = question;
  const base = { kind: 'sleep', agent: agent.id, why: 'ask', ask, state: agent.state } as const;
  return { ...base, untilMs, mostMs, taskFolder, uploads, choices, permission };
}
