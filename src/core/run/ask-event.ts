import type { AskAnswer, Question } from '../../language/ask.ts';
import type { Decision } from '../../language/permission.ts';

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
  /** The decision about a tool; null for a question of the workflow. */
  readonly permission: PermissionDecided | null;
}

/** A decision about a tool, and the running turn that gets it; null if it goes with the agent's next prompt. */
interface PermissionDecided {
  readonly decision: Decision;
  readonly turn: number | null;
}

/** Nobody answered in time. */
interface AskTimedOut extends AgentEvent {
  readonly kind: 'ask_timed_out';
  readonly ask: string;
  /** As for an answer: the tool is denied. */
  readonly permission: PermissionDecided | null;
}

/** A question about a tool is settled: its agent has the decision, or does not need it any more. */
interface AskClosed extends AgentEvent {
  readonly kind: 'ask_closed';
  readonly ask: string;
  readonly outcome: 'delivered' | 'cancelled';
}

/** Something that happened to a question. */
export type AskEvent = Asked | AskAnswered | AskTimedOut | AskClosed;
