import { TRANSITIONS } from '../transitions/index.ts';
import type { FollowedTag } from './followed-tag.ts';
import type { ResolvedTag } from './permitted-tags.ts';

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
