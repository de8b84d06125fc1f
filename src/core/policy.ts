import { hasWildcard, matchesGlob } from './glob.ts';
import { normalizeEffort, normalizeModel } from './preference.ts';
import { resolveState, type Scope } from './state-names.ts';
import type { Tag } from './tag.ts';
import { type TagName, TRANSITIONS } from './transitions/index.ts';

/** A transition that a state permits. What the author left out may be anything. */
export interface PolicyEntry {
  readonly tag: TagName;
  readonly target: string | null;
  readonly attributes: Readonly<Record<string, string>>;
}

/** The transitions a state permits; an empty list permits all. */
export type Policy = readonly PolicyEntry[];

/** The rules in a state's frontmatter: the transitions it permits, and how often an agent may enter it. */
export interface Rules {
  readonly policy: Policy;
  readonly maxVisits: number | null;
}

/** Whether a policy permits a tag: the tag agrees with every key of some entry. */
export function permits(policy: Policy, tag: Tag, scope: Scope): boolean {
  return policy.length === 0 || policy.some((entry) => matchesEntry(entry, tag, scope));
}

/** The implicit transition of a policy: its only entry, if nothing about that is left open. */
export function implicitTag(policy: Policy): Tag | undefined {
  const [entry, second] = policy;
  if (entry === undefined || second !== undefined || entry.target === null) return undefined;
  if (TRANSITIONS[entry.tag].body === 'text' || hasOpenState(entry)) return undefined;
  if (hasWildcard(entry.attributes.cd ?? '')) return undefined;
  return { name: entry.tag, attributes: entry.attributes, repeated: [], body: entry.target, line: 0 };
}

/** Whether an entry leaves a state for the agent to choose. */
export function hasOpenState(entry: PolicyEntry): boolean {
  const { body, required } = TRANSITIONS[entry.tag];
  return (body === 'state' && entry.target === null) || required.some((name) => !Object.hasOwn(entry.attributes, name));
}

/** The states that an entry names, each with its key. */
export function namedStates(entry: PolicyEntry): readonly (readonly [key: string, name: string])[] {
  const { return: returnState, next } = entry.attributes;
  const named: [string, string | null | undefined][] = [
    ['target', entry.target],
    ['return', returnState],
    ['next', next],
  ];
  return named.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
}

function matchesEntry(entry: PolicyEntry, tag: Tag, scope: Scope): boolean {
  if (entry.tag !== tag.name) return false;
  if (entry.target !== null && !isSameState(entry.target, tag.body, scope)) return false;
  return Object.entries(entry.attributes).every(([name, expected]) => {
    const actual = tag.attributes[name];
    return actual !== undefined && isSameValue(name, expected, actual, scope);
  });
}

function isSameValue(name: string, a: string, b: string, scope: Scope): boolean {
  if (name === 'return' || name === 'next') return isSameState(a, b, scope);
  if (name === 'model') return normalizeModel(a) === normalizeModel(b);
  if (name === 'effort') return normalizeEffort(a) === normalizeEffort(b);
  if (name === 'cd') return a === b || matchesGlob(a, b);
  return a === b;
}

/** Whether two names resolve to the same state, such as `A` and `A.md`. */
export function isSameState(a: string, b: string, scope: Scope): boolean {
  const [one, other] = [a, b].map((name) => resolveState(name.trim(), scope));
  return one?.kind === 'found' && other?.kind === 'found' && one.file === other.file;
}
