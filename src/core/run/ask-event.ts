import type { AskAnswer, Question } from '../../language/ask.ts';

interface AgentEvent {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly agent: string;
  /** The state that asks. */
  readonly state: string;
}

/** An agent asks a person, and waits for the answer. */
interface Asked extends AgentEvent {
  readonly kind: 'asked';
  readonly ask: string;
  readonly question: Question;
  /** When the question is over without an answer; null for never. */
  readonly untilMs: number | null;
  /** The folder that its files are in; null if the run has none. */
  readonly taskFolder: string | null;
}

/** A person answered; `by` says who, and `answeredAt` when, which may be long before. */
interface AskAnswered extends AgentEvent, AskAnswer {
  readonly kind: 'ask_answered';
}

/** Nobody answered in time. */
interface AskTimedOut extends AgentEvent {
  readonly kind: 'ask_timed_out';
  readonly ask: string;
}

/** Something that happened to a question. */
export type AskEvent = Asked | AskAnswered | AskTimedOut;
