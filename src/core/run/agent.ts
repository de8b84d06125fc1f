import type { Question } from '../../language/ask.ts';
import type { ForkOrigin } from '../../language/environment-names.ts';
import type { PatternMatch } from '../../language/evaluator.ts';
import type { PauseReason } from '../../language/failure.ts';
import type { Streak } from '../../language/guards.ts';
import type { NamedFolders } from '../../language/named-folders.ts';
import type { ChangedFile } from '../../language/pinned-code.ts';
import type { Rules } from '../../language/policy.ts';
import type { Position, Session } from '../../language/position.ts';
import { isPrompt } from '../../language/state-names.ts';
import type { FollowedTag, TransitionOrigins } from '../../language/tags/followed-tag.ts';
import type { JoinProgress } from '../joins/join-progress.ts';
import type { PermissionQuestion } from './permission.ts';
import type { Said, TurnInterruption } from './said.ts';
import { NO_TOKENS, type Tokens } from './tokens.ts';
import type { Worktree } from './worktree.ts';

/**
 * What a turn sends to Claude Code: the state's prompt, a reminder of its tags, a request to continue after an interruption,
 * only what people have said, what they have decided about its tools, or the command that summarizes the conversation.
 */
export type TurnPrompt =
  | { readonly kind: 'state' }
  | { readonly kind: 'reminder'; readonly text: string }
  | { readonly kind: 'continue' }
  | { readonly kind: 'said' }
  | { readonly kind: 'permissions' }
  | { readonly kind: 'compact' };

/** The conversation that a Claude turn uses. Its `id` is chosen before the turn starts, so that a crash cannot lose it. */
export type SessionUse =
  | { readonly kind: 'new'; readonly id: string }
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'fork'; readonly id: string; readonly from: string };

/** A valid answer whose transition waits for the verdict of a script or a prompt of the state's `evaluator`. */
export interface Evaluation {
  /** The evaluator's index in the rules of the state. */
  readonly index: number;
  /** The file of its script or prompt. */
  readonly file: string;
  /** The answer. */
  readonly text: string;
  readonly denials: readonly string[];
  /** Its digest, if the state has `stuck_after`. */
  readonly fingerprint?: string;
  /** The transition that it asks for, as tags. */
  readonly transition: string;
  /** By evaluator, whether its pattern matches the answer. */
  readonly matches: readonly PatternMatch[];
  /** The conversation of a judge; the agent's own is not touched. */
  readonly session: Session | null;
  /** True if a script that was killed midway may simply run again. */
  readonly repeatable: boolean;
}

/** A turn on record: it is under way, or was when Raymond crashed. */
export interface RunningTurn {
  /** Counted per agent, from 1. */
  readonly number: number;
  readonly prompt: TurnPrompt;
  /** Null for a script. */
  readonly session: SessionUse | null;
  readonly startedAt: number;
  /** The most that it may cost, which is reserved while it runs; null for a script, and without a budget. */
  readonly capMicros: number | null;
  /** The number of its last question about a tool; left out if there was none. */
  readonly asks?: number;
}

/**
 * The state of an agent's work.
 *
 *   worktree ──▶ ready                                      its worktree is there
 *   ready ──▶ running ──▶ ready, ended, failed, paused        a turn ended
 *     ▲          ├──────▶ sleeping ──▶ ready                  it is tried again later
 *     │          ├──────▶ withheld                            the budget ran out before its answer was followed
 *     ├───── asking ◀───┤                                     it waits for the answer of a person
 *     ├───── parked ◀───┘                                     its turn ended while a tool waited for a person
 *     ├── joining                                             enough of its workers are done, or its time is over
 *     └── limited, paused, withheld, failed                   the user resumed the run
 *
 * A join may end workers that are not needed any more: `running` ──▶ `cancelling` ──▶ `cancelled`, any other ──▶ `cancelled`.
 * Whoever works in a worktree of its own is in the phase `worktree` once more before it is ended, failed, limited or cancelled.
 */
export type Phase =
  /** `since` is the step in which it became ready; the earliest goes first. */
  | { readonly kind: 'ready'; readonly prompt: TurnPrompt; readonly since: number }
  | { readonly kind: 'running'; readonly turn: RunningTurn }
  | {
      readonly kind: 'sleeping';
      readonly why: 'retry' | 'usage_limit';
      readonly untilMs: number;
      /** How long that was when it fell asleep; absent in older state files. */
      readonly waitMs?: number;
      readonly prompt: TurnPrompt;
    }
  | {
      readonly kind: 'withheld';
      readonly text: string;
      readonly denials: readonly string[];
      readonly folders: NamedFolders;
      /** As in the signal of the answer; absent if there was none. */
      readonly fingerprint?: string;
    }
  /** Its git worktree is being made, before its first state; or, with the outcome of its work, looked at after its last. */
  | { readonly kind: 'worktree'; readonly outcome: DonePhase | null }
  | {
      readonly kind: 'paused';
      readonly why: PauseReason;
      readonly message: string;
      readonly prompt: TurnPrompt;
      /** The output of a script whose transition cannot be made yet: a resume makes it without running the script again. */
      readonly answer?: string;
      /** The changed code that a person accepts by resuming the run. */
      readonly changed?: readonly ChangedFile[];
    }
  | {
      readonly kind: 'asking';
      readonly ask: string;
      readonly question: Question;
      readonly askedAt: number;
      /** When the question is over without an answer; null for never. */
      readonly untilMs: number | null;
      /** The tag that asks, for the transition that its answer makes. */
      readonly tag: FollowedTag;
      readonly implicit: boolean;
      /** The transition that the state asked for and the evaluator that overrode it, if an evaluator asks this. */
      readonly origin?: TransitionOrigins;
      /** The text that it continues with, together with the answer, if a person interrupted it: it stays in its state. */
      readonly interrupted?: TurnPrompt;
    }
  /** It continues with this prompt once people have answered its `permissions`. */
  | { readonly kind: 'parked'; readonly prompt: TurnPrompt }
  | ({ readonly kind: 'joining' } & JoinProgress)
  /** Its turn is being ended, because the join of the agent `by` needs it no more; its cost is still to come. */
  | { readonly kind: 'cancelling'; readonly turn: RunningTurn; readonly by: string }
  | DonePhase;

/** The phases of an agent that is done as far as a join is concerned: no turn of it will come by itself. */
export type DonePhase =
  | { readonly kind: 'limited'; readonly maxVisits: number }
  | { readonly kind: 'cancelled'; readonly by: string }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ended'; readonly result: string };

/** A thread of control within a run: its position, its phase, and what it has used up. */
export interface Agent extends Position {
  readonly id: string;
  readonly parent: string | null;
  /** The attributes of the fork that started it. */
  readonly variables: Readonly<Record<string, string>>;
  /** The kind of state whose fork started it; null for `main`, and for workers of older state files. */
  readonly forkedBy: ForkOrigin | null;
  /** Null if it works in a folder that others may use, too. */
  readonly worktree: Worktree | null;
  /** The worker of a fleet that has its conversation and its folder, and takes its turns; null for a run in files. */
  readonly node: string | null;
  /** The join of its parent that has taken note of it: it is done, and never continues again. Null before. */
  readonly joinedBy: number | null;
  readonly phase: Phase;
  /** The rules of its state as read when the agent entered it; null until then. */
  readonly rules: Rules | null;
  /**
   * Counted since it entered the state: turns, reminders, retries, cost, tokens; and whether an implicit transition is ruled
   * out.
   */
  readonly tries: number;
  readonly reminders: number;
  readonly retries: number;
  readonly stateMicros: number;
  readonly stateTokens: Tokens;
  readonly tagRequired: boolean;
  /** The tools that Claude Code was not permitted to use since then. */
  readonly denied: readonly string[];
  /** The event in the previous state, if a guard led here. */
  readonly error: string | null;
  /** The question whose end brought it into the state; null if none did. */
  readonly askId: string | null;
  /** The join whose results it was handed in this state; null if it came here otherwise. */
  readonly results: number | null;
  /** Messages that its conversation does not have yet, as far as is known. */
  readonly messages: readonly Said[];
  /** Set while its turn is being ended because a person interrupts it. */
  readonly interruption: TurnInterruption | null;
  /** The questions about its tools that are not settled. */
  readonly permissions: readonly PermissionQuestion[];
  /** The answer that is being evaluated; null while the state itself is at work. Then the counts above are the evaluator's. */
  readonly evaluation: Evaluation | null;
  /** How the first turn in the state came to its conversation; null until then, and for a script. */
  readonly sessionUse: SessionUse['kind'] | null;
  /** Counted since it started: turns, forked workers, cost, visits to each state, answers that each evaluator has got. */
  readonly turns: number;
  readonly forks: number;
  readonly costMicros: number;
  readonly visits: Readonly<Record<string, number>>;
  /** The states that guards of `max_visits` led it past since its last turn. */
  readonly refused: readonly string[];
  /** By state with `stuck_after`, the visits in a row that ended alike. */
  readonly streaks: Readonly<Record<string, Streak>>;
  readonly evaluations: Readonly<Record<string, number>>;
}

type AgentOrigin = Pick<Agent, 'id' | 'parent' | 'state' | 'cwd' | 'input' | 'model' | 'effort' | 'variables'> &
  Partial<Pick<Agent, 'forkedBy' | 'task' | 'nesting' | 'worktree' | 'node'>>;

/** An agent about to enter its first state. */
export function newAgent({
  since,
  forkedBy = null,
  task = null,
  nesting = 0,
  worktree = null,
  node = null,
  ...origin
}: AgentOrigin & { since: number }): Agent {
  return {
    ...origin,
    forkedBy,
    task,
    nesting,
    worktree,
    node,
    joinedBy: null,
    session: null,
    stack: [],
    phase:
      worktree === null ? { kind: 'ready', prompt: { kind: 'state' }, since } : { kind: 'worktree', outcome: null },
    ...PER_STATE_DEFAULTS,
    turns: 0,
    messages: [],
    interruption: null,
    forks: 0,
    costMicros: 0,
    visits: {},
    callVisits: {},
    refused: [],
    streaks: {},
    evaluations: {},
  };
}

/** The fields that start anew when an agent moves to another state. */
export const PER_STATE_DEFAULTS = {
  rules: null,
  tries: 0,
  reminders: 0,
  retries: 0,
  stateMicros: 0,
  stateTokens: NO_TOKENS,
  tagRequired: false,
  denied: [],
  error: null,
  evaluation: null,
  sessionUse: null,
  askId: null,
  results: null,
  permissions: [],
} as const;

/** The file that an agent's next turn runs: its state, or the evaluator of what the state answered. */
export const turnFileOf = ({ evaluation, state }: Agent): string => evaluation?.file ?? state;

/** The subject of messages about an agent's turn: its state, and the evaluator if there is one. */
export const turnSubjectOf = ({ evaluation, state }: Agent): string =>
  evaluation === null ? state : `${state}: its evaluator ${evaluation.file}`;

/** The conversation that an agent's next turn continues from: its own, or that of the judge of its answer. */
export const turnSessionOf = ({ evaluation, session }: Agent): Session | null =>
  evaluation === null ? session : evaluation.session;

/** The agent after a turn that used this conversation. */
export const withTurnSession = (agent: Agent, session: Session | null): Agent =>
  agent.evaluation === null ? { ...agent, session } : { ...agent, evaluation: { ...agent.evaluation, session } };

/** True if the script of an agent's turn may simply run again if it was killed midway. */
export const isTurnRepeatable = ({ evaluation, rules }: Agent): boolean =>
  evaluation === null ? rules?.repeatable === true : evaluation.repeatable;

/** The turn of an agent that is on record; null if it has none. */
export const recordedTurn = (phase: Phase): RunningTurn | null =>
  phase.kind === 'running' || phase.kind === 'cancelling' ? phase.turn : null;

/** The number of times that an agent has entered its current state. */
export function visitCount({ visits, state }: Agent): number {
  return Object.hasOwn(visits, state) ? (visits[state] ?? 0) : 0;
}

/** The number of visits to its current state that `max_visits` counts. */
export function countedVisits(agent: Agent, per: 'agent' | 'call'): number {
  const { callVisits, state } = agent;
  return per === 'agent' ? visitCount(agent) : Object.hasOwn(callVisits, state) ? (callVisits[state] ?? 0) : 0;
}
/** The number of answers that the evaluator at work has got from this agent. */
export const evaluationCount = ({ evaluations, evaluation }: Agent): number =>
  evaluation !== null && Object.hasOwn(evaluations, evaluation.file) ? (evaluations[evaluation.file] ?? 0) : 0;

/** The number of times that an agent has entered a prompt. */
export function promptVisitCount({ visits }: Agent): number {
  let count = 0;
  for (const [state, times] of Object.entries(visits)) if (isPrompt(state)) count += times;
  return count;
}
