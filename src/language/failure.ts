import type { ChangedFile } from './pinned-code.ts';

/** Every way a turn can fail. None of them advances a state. */
export type FailureKind =
  /** Server errors, overload, lost connections, a process that died or said nothing. */
  | 'transient'
  /** No output for too long. */
  | 'timeout'
  | 'usage_limit'
  | 'authentication'
  | 'billing'
  | 'model'
  | 'invalid_request'
  | 'prompt_too_long'
  | 'refusal'
  | 'max_turns'
  /** The turn used up what was left of the run's budget. */
  | 'budget'
  /** The conversation to be resumed is gone. */
  | 'session_lost'
  /** A full disk: the turn could not start, or what Claude Code said last could not be written. */
  | 'disk'
  /** A script ended with an error. */
  | 'script'
  /** A script printed no next step; a prompt did not answer with one, however often it was reminded. */
  | 'no_answer'
  /** A script died midway, or nobody knows whether a turn ran: only the user knows whether it may run again. */
  | 'interrupted'
  /** A turn was gone when its run was taken up again, and is taken once more: one of Claude, or with --retry a script. */
  | 'lost'
  /** Raymond ended the turn because the run was told to stop. */
  | 'stopped'
  /** A person interrupted the turn, and says how the agent continues. */
  | 'broken_off'
  /** The turn ended while a tool waited for the word of a person: the agent continues when it has that. */
  | 'parked';

/**
 * Why an agent is paused: a turn failed, its state cannot be read, code that it is about to use has changed, or the answer of
 * its script names what does not exist.
 */
export type PauseReason = FailureKind | 'unreadable' | 'changed_code' | 'unfollowable';

/** Why a turn failed. */
export interface Failure {
  readonly kind: FailureKind;
  readonly message: string;
  /** The time at which a usage limit ends. */
  readonly untilMs?: number;
  /** The changed code that the turn would have used; left out for any other failure. */
  readonly changed?: readonly ChangedFile[];
}

/** The ways to react to a failure. */
export type Reaction = 'retry' | 'hold' | 'probe' | 'pause' | 'fail' | 'stop' | 'step_down' | 'again';

/** The reaction to each kind of failure. */
export const REACTIONS: Record<FailureKind, Reaction> = {
  transient: 'retry',
  timeout: 'retry',
  usage_limit: 'hold',
  authentication: 'probe',
  billing: 'pause',
  model: 'pause',
  invalid_request: 'pause',
  prompt_too_long: 'pause',
  refusal: 'fail',
  max_turns: 'fail',
  budget: 'stop',
  session_lost: 'step_down',
  disk: 'pause',
  script: 'fail',
  no_answer: 'fail',
  interrupted: 'pause',
  lost: 'again',
  stopped: 'again',
  broken_off: 'again',
  parked: 'again',
};

const FIRST_DELAY_MS = 2_000;
/** The longest delay before a retry. */
export const MAX_BACK_OFF_MS = 120_000;

/** The delay before the nth retry: it doubles each time, and `jitter` keeps agents from retrying all at once. */
export function backOffMs(retry: number, jitter: number): number {
  const full = Math.min(MAX_BACK_OFF_MS, FIRST_DELAY_MS * 2 ** (retry - 1));
  return Math.round(full * (0.5 + jitter / 2));
}
