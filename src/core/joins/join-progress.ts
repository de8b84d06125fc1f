/** How far a join is. */
export interface JoinProgress {
  /** The step in which it began; no other join of the run has the same. */
  readonly join: number;
  /** The workers it is about, those of them that are done, and how many of them must be. */
  readonly workers: number;
  readonly done: number;
  readonly wanted: number;
  /** It is about workers with this variable `group` only; null for all of them. */
  readonly group: string | null;
  /** True if workers that are not needed any more are ended, and how many turns are being ended now. */
  readonly cancel: boolean;
  readonly ending: number;
  /** When it gives up, and where the agent then continues; null if it never does. */
  readonly untilMs: number | null;
  /** The time that it has for that; absent if it has no end, and in older state files. */
  readonly timeoutMs?: number;
  readonly timeoutNext: string | null;
  readonly timedOut: boolean;
}
