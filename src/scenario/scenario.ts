import type { TextPosition } from '../core/text-position.ts';

/** Ways in which a canned turn can fail, in the words of whoever writes the file. */
export const CANNED_FAILURES = [
  'overloaded',
  'no_result',
  'timeout',
  'usage_limit',
  'authentication',
  'billing',
  'model',
  'invalid_request',
  'prompt_too_long',
  'refusal',
  'max_turns',
  'budget',
  'session_lost',
] as const;

export type CannedFailureName = (typeof CANNED_FAILURES)[number];

/** What is played in one turn. Texts and names of files are templates. */
export interface CannedAnswer {
  readonly text: string;
  /** Files to write, with their contents. */
  readonly write: Readonly<Record<string, string>>;
  /** Tools to be seen in use: `Bash npm test`. */
  readonly uses: readonly string[];
  /** Tools that were not permitted. */
  readonly deny: readonly string[];
  readonly costUsd: number;
  readonly seconds: number;
  readonly fail: CannedFailureName | null;
  /** When a usage limit ends. */
  readonly resetsInSeconds: number;
  /** Of a script. */
  readonly exit: number;
  readonly stderr: string;
  /** Whether Raymond is gone, in a rehearsal, before it has heard the answer. */
  readonly crash: boolean;
}

/** What is played during one visit of an agent to a state: one answer for each turn; the last is repeated. */
export type VisitAnswers = readonly CannedAnswer[];

/** What is played in a state for some agents. */
export interface AnswerCase {
  /** The values that the agent's variables must have for this to be meant for it; none at all for everybody. */
  readonly when: Readonly<Record<string, string>>;
  /** Whether there is one visit that stands for all; else the first is for the first, and so on. */
  readonly everyVisit: boolean;
  readonly visits: readonly VisitAnswers[];
}

/** What is played in one state. */
export interface StateAnswers extends TextPosition {
  /** What to call the file in a message; in it, the part begins at the place. */
  readonly file: string;
  /** The first that is meant for an agent counts. */
  readonly cases: readonly AnswerCase[];
  /** Of a script: all that it is made to print, as it is written. */
  readonly outputs: readonly CannedOutput[];
}

/** What a script is made to print, and where that is written. */
export interface CannedOutput extends TextPosition {
  readonly text: string;
}

/** What is played, by the file of the state. */
export type AnswersByState = ReadonlyMap<string, StateAnswers>;

/** Canned answers as plain data. */
export interface Scenario {
  /** What to call the file in a message. */
  readonly file: string;
  readonly answers: AnswersByState;
  /** Whether scripts that have no part are run; otherwise they need one. */
  readonly scripts: 'real' | 'played';
  /** What the scripts were like when they were recorded: a fingerprint of each, by its file. */
  readonly scriptFingerprints: ReadonlyMap<string, string>;
}
