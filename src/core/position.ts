/**
 * A conversation with Claude Code that a turn can go on from. A `branch` does not exist yet: the next Claude turn forks
 * it from `of`, once, and leaves the original as it was.
 */
export type Session = { readonly kind: 'open'; readonly id: string } | { readonly kind: 'branch'; readonly of: string };

/** Model and effort asked for by a tag: they hold for the callee until it returns, for a worker all its life. */
export interface Preference {
  readonly model: string | null;
  readonly effort: string | null;
}

/** Where a `<result>` goes back to: everything of the caller that the callee must not disturb. */
export interface Frame extends Preference {
  readonly state: string;
  readonly session: Session | null;
  readonly cwd: string;
}

/** Where an agent stands in its workflow: all that a transition can read and change. */
export interface Position extends Preference {
  /** The file of the state, extension included. */
  readonly state: string;
  /** The value of `{{result}}` in this state, if something was handed over. */
  readonly input: string | null;
  readonly session: Session | null;
  /** Callers that wait for a result, the latest last. */
  readonly stack: readonly Frame[];
  readonly cwd: string;
}
