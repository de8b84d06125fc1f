import type { TextPosition } from '../language/text/text.ts';

/** The ways in which a canned turn can fail, as a scenario file names them. */
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

/** The name of a failure in a scenario file. */
export type CannedFailureName = (typeof CANNED_FAILURES)[number];

/** A canned answer for one turn. Texts and names of files are templates. */
export interface CannedAnswer {
  readonly text: string;
  /** Files to write, with their contents. */
  readonly write: Readonly<Record<string, string>>;
  /** Tools that are shown as used, such as `Bash npm test`. */
  readonly uses: readonly string[];
  /** Tools whose use is denied. */
  readonly deny: readonly string[];
  readonly costUsd: number;
  readonly seconds: number;
  readonly fail: CannedFailureName | null;
  /** The seconds until a usage limit ends. */
  readonly resetsInSeconds: number;
  /** The used percentage of the 5-hour window that it reports; null if it reports none. */
  readonly quotaPercent: number | null;
  /** The exit code of a script. */
  readonly exit: number;
  readonly stderr: string;
  /** The message that a person sends to the agent during the turn; null for none. */
  readonly say: string | null;
  /** True if the simulated Raymond process is killed during the turn. */
  readonly crash: boolean;
  /** The summary of the conversation before it, where a `<compact>` led here. */
  readonly compact: CannedSummary;
}

/** A canned summary of a conversation. */
export interface CannedSummary {
  readonly costUsd: number;
  /** True if there is none, so that the conversation continues as it is. */
  readonly fails: boolean;
}

/** The answers for one visit of an agent to a state: one for each turn; the last is repeated. */
export type VisitAnswers = readonly CannedAnswer[];

/** The answers in a state for some agents. */
export interface AnswerCase {
  /** The values that an agent's variables must have; empty for all agents. */
  readonly when: Readonly<Record<string, string>>;
  /** True if the only visit is repeated forever; otherwise there is one for each visit, in order. */
  readonly everyVisit: boolean;
  readonly visits: readonly VisitAnswers[];
}

/** The answers in one state, and the position at which they begin. */
export interface StateAnswers extends TextPosition {
  /** The name of the file for messages. */
  readonly file: string;
  /** The first case that matches an agent is used. */
  readonly cases: readonly AnswerCase[];
  /** All texts that a script is made to print, as they are written; empty for a prompt. */
  readonly outputs: readonly CannedOutput[];
}

/** A text that a script is made to print, and its position. */
export interface CannedOutput extends TextPosition {
  readonly text: string;
}

/** Answers by the file of the state. */
export type AnswersByState = ReadonlyMap<string, StateAnswers>;

/** Canned answers for a workflow. */
export interface Scenario {
  /** The name of the file for messages. */
  readonly file: string;
  readonly answers: AnswersByState;
  /** True if scripts without an answer are run; otherwise they are an error. */
  readonly scripts: 'real' | 'played';
  /** The fingerprints of the scripts when they were recorded, by file. */
  readonly scriptFingerprints: ReadonlyMap<string, string>;
}
