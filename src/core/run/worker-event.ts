import type { DonePhase } from './agent.ts';
import type { ModelShare } from './tokens.ts';

/** The common part of events about workers. */
interface WorkerEvent {
  readonly at: number;
  readonly agent: string;
  readonly state: string;
}

/** An agent waits for its workers; `state` is the one that it enters afterwards. */
export interface Joining extends WorkerEvent {
  readonly kind: 'joining';
  /** The workers it waits for, those of them that are done already, and how many of them must be. */
  readonly workers: number;
  readonly done: number;
  readonly wanted: number;
  /** Only workers whose variable `group` is this one count; null for all of them. */
  readonly group: string | null;
  /** When it gives up; null for never. */
  readonly untilMs: number | null;
}

/** An agent continues after a join, because enough of its workers are done or its time is over. */
export interface Joined extends WorkerEvent {
  readonly kind: 'joined';
  /** The state that it enters now. */
  readonly to: string;
  readonly timedOut: boolean;
  /** The workers that it has the results of, by how they ended. */
  readonly workers: { readonly [Kind in DonePhase['kind']]: number };
  /** The workers that are still at work, and can be joined later. */
  readonly left: number;
}

/** The worker that had an agent's conversation and folder is gone: the agent continues at another one. */
export interface Rehomed extends WorkerEvent {
  readonly kind: 'rehomed';
  readonly from: string;
  readonly to: string;
}

/** The cost of an earlier turn is known now: the worker that had taken it is back. `state` is the one of that turn. */
export interface CostCorrected extends WorkerEvent {
  readonly kind: 'cost_corrected';
  readonly evaluator: string | null;
  readonly turn: number;
  /** The estimate that this replaces. */
  readonly formerMicros: number;
  readonly formerCanned: boolean;
  /** As for the end of a turn. */
  readonly costMicros: number;
  readonly estimated: boolean;
  readonly canned: boolean;
  readonly models: readonly ModelShare[];
  /** The total that the run has spent, this included. */
  readonly spentMicros: number;
}

/** The end of a turn with what is known of its cost since. */
export const correctTurn = <T extends Pick<CostCorrected, 'costMicros' | 'estimated' | 'canned' | 'models'>>(
  ended: T,
  { costMicros, estimated, canned, models }: CostCorrected,
): T => ({ ...ended, costMicros, estimated, canned, models });

/** The join of the agent `by` does not need this one any more: its turn is being ended. */
export interface Cancelling extends WorkerEvent {
  readonly kind: 'cancelling';
  readonly by: string;
}

/** An agent was ended because the join of the agent `by` does not need it any more. */
export interface AgentCancelled extends WorkerEvent {
  readonly kind: 'agent_cancelled';
  readonly by: string;
}

/** The git worktree of a worker is being made, or opened again. */
interface WorktreeOpening extends WorkerEvent {
  readonly kind: 'worktree_opening';
}

/** A worker got a git worktree of its own. */
interface WorktreeOpened extends WorkerEvent {
  readonly kind: 'worktree_opened';
  readonly path: string;
  readonly branch: string;
  /** The commit that it was made from, and the folder of what all worktrees of the repository share. */
  readonly base: string;
  readonly repository: string;
  /** The repository that its branch is pushed to at the end; absent if it is not pushed. */
  readonly remote?: string;
  /** The folder in it that the worker works in. */
  readonly cwd: string;
  /** The machine of a fleet that has it, if that is not the one of before. */
  readonly home?: string;
}

/** A worker has come to its end in a git worktree, which is looked at now: the event of its end comes afterwards. */
interface WorktreeLeaving extends WorkerEvent {
  readonly kind: 'worktree_leaving';
}

/** The worktree of a worker that ended: it is kept if it holds something new, else removed. */
export interface WorktreeLeft extends WorkerEvent {
  readonly kind: 'worktree_left';
  readonly path: string;
  readonly branch: string;
  readonly kept: boolean;
  readonly commits: number;
  readonly dirty: boolean;
  /** Where its commits were to be pushed to, and whether they are there; absent if they were not to be pushed. */
  readonly remote?: string;
  readonly pushed?: boolean;
}

/** A person removed a worktree, or the clone of the run, on purpose, with its branch and the work in it. */
interface WorktreeDiscarded extends WorkerEvent {
  readonly kind: 'worktree_discarded';
  readonly path: string;
  readonly branch: string;
}

/** The events about the git worktree of a worker. */
export type WorktreeEvent = WorktreeOpening | WorktreeOpened | WorktreeLeaving | WorktreeLeft | WorktreeDiscarded;
