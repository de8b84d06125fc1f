import { normalizeEffort, normalizeModel } from './claude-values.ts';
import type { Guards } from './guards.ts';
import { isSameSpec } from './named-workflows.ts';
import type { Preference } from './position.ts';
import { resolveState, type Scope } from './state-names.ts';
import { isBuiltInAttribute, STATE_ATTRIBUTES, type Tag } from './tags/tag.ts';
import { parseDurationMs } from './text/duration.ts';
import { hasWildcard, matchesGlob } from './text/glob.ts';
import { isAttributeWord, isWorkflowTag, type TagName, TRANSITIONS, takesAttribute } from './transitions/index.ts';

/** A transition that a state permits. What the author left out may be anything. */
export interface PolicyEntry {
  readonly tag: TagName;
  readonly target: string | null;
  /**
   * The attributes that the author wrote. A tag must agree with them, except with `input`, a template for what the
   * target gets if the tag has no `input`, and with variables of the author's own.
   */
  readonly attributes: Readonly<Record<string, string>>;
  /** The text that a `<result>` must have; absent or null if any. */
  readonly payload?: string | null;
}

/** The transitions a state permits; an empty list permits all. */
export type Policy = readonly PolicyEntry[];

/**
 * A check of a valid answer before its transition is made: a pattern over its text, a script (a gate), or a prompt in a
 * conversation of its own (a judge). It confirms the transition, or overrides it with another one that the state permits.
 */
export type Evaluator =
  | {
      readonly kind: 'pattern';
      readonly pattern: string;
      /** True if `instead` is taken if the text matches, or if it does not. */
      readonly overridesOn: 'match' | 'mismatch';
      readonly instead: PolicyEntry;
    }
  | { readonly kind: 'script'; readonly file: string }
  | ({ readonly kind: 'prompt'; readonly file: string } & Preference);

/** The rules in a state's frontmatter: the transitions it permits, and how often an agent may enter it. */
export interface Rules {
  readonly policy: Policy;
  readonly maxVisits: number | null;
  /** True if the only transition is taken whatever the answer says; absent in older state files. */
  readonly forceImplicit?: boolean;
  /** True if a script that was killed midway may simply run again; absent in older state files. */
  readonly repeatable?: boolean;
  /** The guards against failure, too many visits and lack of progress; absent without guards. */
  readonly guards?: Guards;
  /** The evaluators that must confirm the transition of a valid answer, in order; absent for none, and in older run files. */
  readonly evaluators?: readonly Evaluator[];
  /** True if a `<result>` must fit a schema; absent in older state files. */
  readonly checksResult?: boolean;
}

/** True if a policy permits a tag: the tag agrees with every key of some entry. */
export function permits(policy: Policy, tag: Tag, scope: Scope): boolean {
  return policy.length === 0 || findEntry(policy, tag, scope) !== undefined;
}

/** The first entry of a policy that a tag agrees with. */
export function findEntry(policy: Policy, tag: Tag, scope: Scope): PolicyEntry | undefined {
  return policy.find((entry) => matchesEntry(entry, tag, scope));
}

/** The implicit transition of a policy: its only entry, if nothing about that is left open. */
export function implicitTag(policy: Policy): Tag | undefined {
  const [entry, second] = policy;
  if (entry === undefined || second !== undefined) return undefined;
  const body = TRANSITIONS[entry.tag].body === 'text' ? (entry.payload ?? null) : entry.target;
  if (body === null || hasOpenState(entry) || hasWildcard(entry.attributes.cd ?? '')) return undefined;
  return { name: entry.tag, attributes: entry.attributes, repeated: [], body, line: 0 };
}

/** True if an entry leaves a state, or a workflow, for the agent to choose. */
export function hasOpenState(entry: PolicyEntry): boolean {
  const { body, required } = TRANSITIONS[entry.tag];
  return (body !== 'text' && entry.target === null) || required.some((name) => !Object.hasOwn(entry.attributes, name));
}

/** The states that an entry names, each with its key. */
export function namedStates(entry: PolicyEntry): readonly (readonly [key: string, name: string])[] {
  const named: [string, string | null | undefined][] = [
    ['target', TRANSITIONS[entry.tag].body === 'state' ? entry.target : null],
    ...STATE_ATTRIBUTES.filter((key) => takesAttribute(entry.tag, key)).map((key): [string, string | undefined] => [
      key,
      entry.attributes[key],
    ]),
  ];
  return named.filter((pair): pair is [string, string] => typeof pair[1] === 'string');
}

function matchesEntry(entry: PolicyEntry, tag: Tag, scope: Scope): boolean {
  if (entry.tag !== tag.name) return false;
  if (typeof entry.payload === 'string' && entry.payload !== tag.body) return false;
  const isSameTarget = isWorkflowTag(entry.tag) ? isSameSpec : isSameState;
  if (entry.target !== null && !isSameTarget(entry.target, tag.body, scope)) return false;
  return Object.entries(entry.attributes).every(([name, expected]) => {
    if (!isCompared(entry.tag, name, expected)) return true;
    const actual = tag.attributes[name];
    return actual !== undefined && isSameValue(name, expected, actual, scope);
  });
}

/** True if a tag must have an attribute as its policy entry has it. */
const isCompared = (tag: TagName, name: string, value: string): boolean =>
  (isBuiltInAttribute(tag, name) && name !== 'input' && name !== 'input-file') || isAttributeWord(tag, name, value);

function isSameValue(name: string, a: string, b: string, scope: Scope): boolean {
  if ((STATE_ATTRIBUTES as readonly string[]).includes(name)) return isSameState(a, b, scope);
  if (name === 'timeout') return a === b || parseDurationMs(a.trim()) === parseDurationMs(b.trim());
  if (name === 'model') return normalizeModel(a) === normalizeModel(b);
  if (name === 'effort') return normalizeEffort(a) === normalizeEffort(b);
  if (name === 'cd') return a === b || matchesGlob(a, b);
  return a === b;
}

/** True if two names resolve to the same state, such as `A` and `A.md`. */
export function isSameState(a: string, b: string, scope: Scope): boolean {
  const one = resolveState(a.trim(), scope);
  if (one.kind !== 'found' || a.trim() === b.trim()) return one.kind === 'found';
  const other = resolveState(b.trim(), scope);
  return other.kind === 'found' && one.file === other.file;
}
