import type { Position, Preference } from '../position.ts';
import type { BuiltInAttribute } from '../tag.ts';

/** A tag made exact: names are files of the workflow, `cd` is a folder that exists. */
export interface TransitionTarget extends Preference {
  /** The state to go to; for a text tag, the text. */
  readonly body: string;
  readonly return: string | null;
  readonly next: string | null;
  readonly cd: string | null;
  readonly stack: 'keep' | 'clear';
  readonly input: string | null;
  /** The author's own attributes. */
  readonly variables: Readonly<Record<string, string>>;
}

/** An agent about to be born of a fork. */
export interface Worker extends Pick<Position, 'state' | 'input' | 'cwd' | 'model' | 'effort'> {
  readonly variables: Readonly<Record<string, string>>;
}

/** What a transition makes of a position: the agent goes on, perhaps leaving a worker behind, or it is done. */
export type TransitionResult =
  | { readonly kind: 'on'; readonly position: Position; readonly worker?: Worker; readonly warning?: string }
  | { readonly kind: 'end'; readonly result: string };

/** Everything the language says about one tag. */
export interface Transition {
  /** What stands between the tags: a state's name, or free text. */
  readonly body: 'state' | 'text';
  /** The language's own attributes that the tag takes; any other of them is an error. */
  readonly attributes: readonly BuiltInAttribute[];
  /** Those that it cannot do without. */
  readonly required: readonly ('return' | 'next')[];
  /** Whether further attributes are variables; elsewhere they are ignored with a warning. */
  readonly variables: boolean;
  follow(at: Position, target: TransitionTarget): TransitionResult;
}
