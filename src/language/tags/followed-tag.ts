import type { TagName } from '../transitions/index.ts';

/** A tag that was followed, with its names resolved: states are files of the workflow, `cd` is a full path. */
export interface FollowedTag {
  readonly tag: TagName;
  /** The state that it names; null for a `<result>`, whose text is the transition's `input`. */
  readonly target: string | null;
  /** The attributes that have a meaning. A fork without a `next` has that of its siblings. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Target and attributes as the answer has them, or the policy of an implicit transition; ignored attributes included. */
  readonly written: { readonly target: string | null; readonly attributes: Readonly<Record<string, string>> };
}

/**
 * Who chose a transition and why: the answer of the state (or its policy, if it is implicit), an evaluator that overrode
 * the answer, or a guard of the state. `name` is the evaluator's file or pattern, or the guard's key.
 */
export interface TransitionChoice {
  readonly by: 'answer' | 'evaluator' | 'guard';
  readonly name: string | null;
  readonly why: string | null;
}

/** The transition that an answer asked for, and the source of the one that was followed. */
export interface TransitionOrigins {
  readonly requested: readonly FollowedTag[];
  readonly choice: TransitionChoice;
}
