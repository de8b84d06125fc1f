import type { AnswerDef, TagDef } from '../case.ts';
import type { Observation } from '../observation.ts';

/*
 * The reference model: what docs/protocol.md says about a run, written without a look at src/core. It knows the case, is shown what
 * was observed in the order in which it happened, and throws as soon as something may not happen, or not in this way. Where the
 * program is free, such as in the order of agents, it takes what it is shown.
 */

/** A conversation: one that exists, or one that is forked from another by the next turn. */
export interface ModelSession {
  readonly kind: 'open' | 'branch';
  readonly id: string;
  /** True if it is summed up before the next prompt of a state. */
  readonly compact: boolean;
}

/** What a caller gets back. */
export interface ModelFrame {
  readonly state: string;
  readonly session: ModelSession | null;
  readonly cwd: string;
  readonly task: string;
  readonly callVisits: Map<string, number>;
  readonly model: string | null;
  readonly effort: string | null;
}

/** What an agent is doing. */
export type ModelPhase =
  | 'ready'
  | 'running'
  | 'sleeping'
  | 'asking'
  | 'joining'
  | 'paused'
  | 'withheld'
  | 'limited'
  | 'failed'
  | 'ended'
  | 'opening'
  | 'leaving'
  | 'cancelling'
  | 'cancelled';

/** The prompt that comes next. */
export type ModelPrompt = 'state' | 'reminder' | 'continue' | 'said';

/** A question that waits. */
export interface ModelQuestion {
  readonly id: string;
  readonly next: string;
  readonly timeoutNext: string | null;
  readonly untilMs: number | null;
  readonly tag: TagDef;
  /** Whether it was an evaluator that asked. */
  readonly by: 'answer' | 'evaluator';
  readonly implicit: boolean;
  /** Set if it is about how to continue after an interruption. */
  readonly interrupted: ModelPrompt | null;
}

/** A join under way. */
export interface ModelJoin {
  readonly id: number;
  readonly state: string;
  readonly timeoutNext: string | null;
  readonly untilMs: number | null;
  readonly group: string | null;
  readonly cancel: boolean;
  readonly workers: number;
  readonly wanted: number;
  timedOut: boolean;
  /** True once enough workers are done, or the time is over. */
  isOver: boolean;
}

/** The git worktree of a worker. */
export interface ModelWorktree {
  /** Null until it was made for the first time. */
  place: { readonly path: string; readonly branch: string } | null;
  isOpen: boolean;
  /** What was in it when it was left last. */
  content: { readonly kept: boolean; readonly commits: number; readonly dirty: boolean } | null;
}

/** An answer whose transition waits for an evaluator. */
export interface ModelEvaluation {
  readonly index: number;
  readonly file: string;
  readonly answer: AnswerDef;
  /** The answer as a text, and the transition that it asks for as tags. */
  readonly text: string;
  readonly transition: string;
  session: ModelSession | null;
}

/** Something that must be observed next of an agent: the fields that are named must be the same. */
export interface Expectation {
  readonly kind: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** What changes once it was observed. */
  readonly then?: (observed: Observation) => void;
}

/** An agent as the model sees it. */
export interface ModelAgent {
  readonly id: string;
  readonly parent: string | null;
  readonly variables: Readonly<Record<string, string>>;
  state: string;
  input: string | null;
  session: ModelSession | null;
  stack: ModelFrame[];
  cwd: string;
  task: string;
  model: string | null;
  effort: string | null;
  error: string | null;
  askId: string | null;
  /** The workers whose results it has in hand; null if it does not come from a join. */
  results: readonly ModelAgent[] | null;
  phase: ModelPhase;
  prompt: ModelPrompt;
  /** The kind of the running turn's prompt. */
  running: ModelPrompt | 'compact';
  isEntered: boolean;
  turns: number;
  tries: number;
  reminders: number;
  retries: number;
  mustSay: boolean;
  wasDenied: boolean;
  evaluation: ModelEvaluation | null;
  question: ModelQuestion | null;
  join: ModelJoin | null;
  joinedBy: number | null;
  forks: number;
  cost: number;
  stateCost: number;
  /** What turns that were stopped at their share have paid for the answer to come, and how many they were. */
  paid: number;
  stops: number;
  /** True if a turn was ended while it paid a share: nobody knows how much of it. */
  isPaidInPart: boolean;
  visits: Map<string, number>;
  callVisits: Map<string, number>;
  evaluations: Map<string, number>;
  /** By state, the tags of its last visit and how often they came in a row. */
  streaks: Map<string, { readonly tags: string; readonly count: number }>;
  /** States that guards of `max_visits` led past since the last turn. */
  refused: Set<string>;
  /** Messages that its conversation does not have yet. */
  messages: { readonly id: string; readonly text: string; turn: number | null }[];
  interruption: { readonly turn: number; readonly text: string | null; readonly id: string } | null;
  kept: AnswerDef | null;
  result: string | null;
  failure: string | null;
  /** The conversation of the running turn. */
  turnSession: { readonly kind: string; readonly id: string } | null;
  /** Texts that the running turn has shown. */
  prints: string[];
  /** True if it sleeps until a usage limit ends. */
  sleepsForLimit: boolean;
  /** True if its script was killed midway: only `--retry` runs it again. */
  needsRetry: boolean;
  /** True if a resume has to put it back to work. */
  mustResume: boolean;
  /** What must be observed of it next. */
  expected: Expectation[];
  /** How many reports about the subscription there were when its turn began. */
  quotaReports: number;
  worktree: ModelWorktree | null;
  /** The end that comes when its worktree was left. */
  leaving: Expectation | null;
  /** Kinds of warnings that must be observed. */
  warnings: string[];
  /** The features that it has met. */
  readonly features: Set<string>;
}

/** An agent about to enter its first state. */
export function newModelAgent(
  origin: Pick<ModelAgent, 'id' | 'parent' | 'variables' | 'state' | 'input' | 'cwd' | 'task' | 'model' | 'effort'> &
    Partial<Pick<ModelAgent, 'worktree'>>,
): ModelAgent {
  return {
    worktree: null,
    leaving: null,
    warnings: [],
    quotaReports: 0,
    ...origin,
    session: null,
    stack: [],
    error: null,
    askId: null,
    results: null,
    phase: 'ready',
    prompt: 'state',
    running: 'state',
    isEntered: false,
    turns: 0,
    tries: 0,
    reminders: 0,
    retries: 0,
    mustSay: false,
    wasDenied: false,
    evaluation: null,
    question: null,
    join: null,
    joinedBy: null,
    forks: 0,
    cost: 0,
    stateCost: 0,
    paid: 0,
    stops: 0,
    isPaidInPart: false,
    visits: new Map(),
    callVisits: new Map(),
    evaluations: new Map(),
    streaks: new Map(),
    refused: new Set(),
    messages: [],
    interruption: null,
    kept: null,
    result: null,
    failure: null,
    turnSession: null,
    prints: [],
    sleepsForLimit: false,
    needsRetry: false,
    mustResume: false,
    expected: [],
    features: new Set(),
  };
}

/** The agent has moved: everything that is counted within one visit begins anew. */
export function enterState(agent: ModelAgent, state: string, input: string | null): void {
  Object.assign(agent, {
    state,
    input,
    error: null,
    askId: null,
    results: null,
    phase: 'ready',
    prompt: 'state',
    isEntered: false,
    tries: 0,
    reminders: 0,
    retries: 0,
    mustSay: false,
    wasDenied: false,
    evaluation: null,
    question: null,
    stateCost: 0,
    paid: 0,
    stops: 0,
    isPaidInPart: false,
    kept: null,
  });
}

/** Whether a join need not wait for the agent any more. */
export const isDone = ({ phase }: ModelAgent): boolean =>
  phase === 'ended' || phase === 'failed' || phase === 'limited' || phase === 'cancelled';
