import { type TagName, TRANSITIONS } from '../transitions/index.ts';
import type { ResolvedTag } from './permitted-tags.ts';

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
 * The author of a transition and the reason: the answer of the state (or its policy, if it is implicit), an evaluator that overrode
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

/** Converts a tag for the event: the attributes that were given, with their resolved values, and everything as written. */
export function toFollowedTag({ tag, target, written }: ResolvedTag): FollowedTag {
  const {
    body,
    workflow: _,
    variables,
    takesTaskWord,
    takesWorktree,
    own,
    join: _join,
    items: _items,
    ...builtIn
  } = target;
  const resolved = new Map<string, string | null>(Object.entries({ ...variables, ...own, ...builtIn }));
  if (takesTaskWord) resolved.set('task', written.attributes.task ?? null);
  if (takesWorktree) resolved.set('worktree', written.attributes.worktree ?? null);
  // The policy may have provided the `input`.
  const names = new Set([...Object.keys(written.attributes), 'input']);
  const attributes = [...names].flatMap((name) => {
    const value = resolved.get(name) ?? null;
    return value === null ? [] : [[name, value] as const];
  });
  const namesState = TRANSITIONS[tag].body !== 'text';
  return {
    tag,
    target: namesState ? body : null,
    attributes: Object.fromEntries(attributes),
    written: { target: namesState ? written.body : null, attributes: written.attributes },
  };
}
