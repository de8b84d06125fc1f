/**
 * A conversation with Claude Code that a turn can continue from. A `branch` does not exist yet: the next Claude turn forks
 * it from `of`, once, and leaves the original as it was.
 */
export type Session = (
  | { readonly kind: 'open'; readonly id: string }
  | { readonly kind: 'branch'; readonly of: string }
) & {
  /** Set if it is to be summarized before its next prompt. */
  readonly compact?: true;
  /** The model that Claude Code reported for it when nobody had named one; absent if it never did. */
  readonly model?: string;
};

/** The model of a conversation as a field of another one that continues it. */
export const modelOf = (session: Session | null): Pick<Session, 'model'> =>
  session?.model === undefined ? {} : { model: session.model };

/** Model and effort that a tag asks for. They hold for a callee until it returns, and for a worker until it ends. */
export interface Preference {
  readonly model: string | null;
  readonly effort: string | null;
}

/** The visits within one call to each state whose `max_visits` counts per call. */
export type CallVisits = Readonly<Record<string, number>>;

/** The count of a call that begins: the same object if it is empty, so that nothing seems to change. */
export const newCallVisits = (before: CallVisits): CallVisits => (Object.keys(before).length === 0 ? before : {});

/** A frame of the return stack: where a `<result>` goes back to, and what of the caller the callee must not change. */
export interface Frame extends Preference {
  readonly state: string;
  readonly session: Session | null;
  readonly cwd: string;
  readonly task: string | null;
  /** The caller's counters; absent if there are none. */
  readonly callVisits?: CallVisits;
  readonly nesting: number;
}

/** A result that fits the `result_schema` of the state that it is from. It is checked again when it is used. */
interface CheckedInput {
  readonly text: string;
  /** The state that it is from. */
  readonly resultOf: string;
}

/** The value that a state is handed, in one piece with the state that has to vouch for it, so that no other value is ever checked. */
export type Input = string | CheckedInput;

/** The text of an input; null if nothing was handed over. */
export const inputText = (input: Input | null): string | null =>
  typeof input === 'object' ? (input?.text ?? null) : input;

/** The position of an agent in its workflow: everything that a transition reads and changes. */
export interface Position extends Preference {
  /** The file of the state, extension included; behind the name of its workflow and a `/` if that is not the run's own. */
  readonly state: string;
  /** The value of `{{result}}` in this state; null if nothing was handed over. */
  readonly input: Input | null;
  readonly session: Session | null;
  /** The callers that wait for a result, the latest last. */
  readonly stack: readonly Frame[];
  readonly cwd: string;
  /** The name of the task whose folder it works in; null for the agent's first task, which is called like the agent. */
  readonly task: string | null;
  /** Counted in the call that it is in. */
  readonly callVisits: CallVisits;
  /** The number of workflows around its own: of those that called it, and of those that started its worker. */
  readonly nesting: number;
}
