import { hasUnknownPart, type TagMention } from '../core/tag-mentions.ts';

/** What a script has printed on one of its ways. `at` and the like are offsets of the script. */
export type PathOutput =
  /** `since` is the last thing that could have printed a tag and did not, or the `exit`. */
  | { readonly kind: 'nothing'; readonly silentSince: number | null; readonly about: Conditions }
  /** Some of the tags that stand in the script, or none. */
  | { readonly kind: 'some' }
  /** Nothing, if the loop here has nothing to go through. */
  | { readonly kind: 'skipped'; readonly loop: number; readonly about: Conditions }
  /** Perhaps a tag that does not stand in the script. */
  | { readonly kind: 'perhaps' }
  | ForkTags
  | SingleTag
  | TagConflict;

/** One tag that is no fork; or a goto, with or without forks. */
export interface SingleTag {
  readonly kind: 'one';
  readonly name: string;
  readonly key: string;
  readonly at: number;
  readonly about: Conditions;
  /** Where a goto leads, if it says so. */
  readonly next: string | null;
  /** Whether it may stand beside forks. */
  readonly forks: boolean;
}

/** Forks, and where they let their parent go on, if they say so. */
export interface ForkTags {
  readonly kind: 'forks';
  readonly at: number;
  readonly about: Conditions;
  readonly next: string | null;
}

/** Two tags that exclude each other: there can be only one of them, or forks differ in where their parent goes on. */
export interface TagConflict {
  readonly kind: 'clash';
  readonly first: number;
  readonly second: number;
  readonly reason: 'two' | 'forks' | 'next' | 'again';
}

/** Something that a script asks. */
export interface Condition {
  /** The variables, files and other things that it names. */
  readonly subjects: ReadonlySet<string>;
  /** If it asks whether a variable has this very value. */
  readonly equality: Equality | null;
  /** Whether it only asks whether there is something, not what. */
  readonly isExistenceTest: boolean;
}

/** A variable and one of its values; also all of them, if they are known. */
export interface Equality {
  readonly subject: string;
  readonly value: string;
  readonly allValues: readonly string[] | null;
}

/**
 * The conditions on the way. Two that are about the same thing may exclude each other, so that what would need both of
 * them is not claimed.
 */
export type Conditions = readonly Condition[];

/** All that may have been printed at some point of a script. */
export type PathOutputs = ReadonlyMap<string, PathOutput>;

export const NO_PATHS: PathOutputs = new Map();

/** What hangs on more conditions than these is nothing that an author could see at a glance. */
const MAX_CONDITIONS = 30;

/** A script before its first command. */
export const NOTHING_PRINTED: PathOutputs = new Map([['nothing', { kind: 'nothing', silentSince: null, about: [] }]]);

/** What may have been printed where several ways come together. */
export function joinOutputs(...all: readonly PathOutputs[]): PathOutputs {
  const [first = NO_PATHS, ...others] = all.filter(({ size }) => size > 0);
  if (others.length === 0) return first;
  const merged = new Map(first);
  for (const [key, output] of others.flatMap((each) => [...each])) {
    const known = merged.get(key);
    merged.set(key, known === undefined ? output : mergeOutputs(known, output));
  }
  return merged;
}

/** Something that could have printed a tag is over; it hung on a condition, or was an `exit`. */
export const markSilent = (outputs: PathOutputs, at: number, condition?: Condition): PathOutputs =>
  mapOutputs(outputs, (output): PathOutput => {
    if (output.kind === 'skipped' && condition !== undefined && mayComplete(condition, output.about))
      return { kind: 'some' };
    if (output.kind !== 'nothing') return output;
    const about = condition === undefined ? [] : [condition];
    return output.about.length > MAX_CONDITIONS || (condition !== undefined && mayComplete(condition, output.about))
      ? { kind: 'some' }
      : { kind: 'nothing', silentSince: at, about: unionConditions(output.about, about) };
  });

/** Some of what was not printed is known to be printed elsewhere, as far as these conditions go. */
export const allowSilence = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => (output.kind === 'nothing' ? { kind: 'some' } : output));

/** A program has run that may have printed a tag or not. */
export const addPossibleTag = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => (isVague(output) || output.kind === 'nothing' ? { kind: 'perhaps' } : output));

/** A loop that prints tags was not gone through at all. */
export const skipLoop = (outputs: PathOutputs, loop: number, condition: Condition): PathOutputs =>
  mapOutputs(outputs, (output) => {
    if (output.kind !== 'nothing') return output;
    return mayComplete(condition, output.about) ? { kind: 'some' } : { kind: 'skipped', loop, about: [condition] };
  });

/** A loop prints this tag in each of its rounds, and it is never twice the same. */
export const repeatTag = (outputs: PathOutputs, at: number): PathOutputs =>
  mapOutputs(outputs, (output) =>
    output.kind === 'one' ? { kind: 'clash', first: at, second: at, reason: 'again' } : output,
  );

/** These tags are printed as well, under these conditions. */
export const appendTags = (outputs: PathOutputs, tags: readonly TagMention[], conditions: Conditions): PathOutputs =>
  tags.reduce((all, tag) => mapOutputs(all, (output) => appendTag(output, tag, conditions)), outputs);

/** A result is begun whose end is printed by another command. */
export const appendUnclosedResult = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => {
    return output.kind === 'one'
      ? output
      : { kind: 'one', name: 'result', key: 'result', at: 0, about: [], next: null, forks: false };
  });

/** The tags that have surely been printed where these conditions hold. */
export const findPrintedTags = (outputs: PathOutputs, conditions: Conditions): readonly (SingleTag | ForkTags)[] =>
  [...outputs.values()].flatMap((output) => {
    const hasTags = output.kind === 'one' || output.kind === 'forks';
    return hasTags && conditions.every((condition) => output.about.includes(condition)) ? output : [];
  });

function mapOutputs(outputs: PathOutputs, change: (output: PathOutput) => PathOutput): PathOutputs {
  return [...outputs.values()].reduce<PathOutputs>((all, output) => {
    const changed = change(output);
    return joinOutputs(all, new Map([[outputKey(changed), changed]]));
  }, NO_PATHS);
}

function outputKey(output: PathOutput): string {
  if (output.kind === 'one') return output.key;
  return output.kind === 'forks' ? `forks ${output.next}` : output.kind;
}

/** One more tag: forks go together and with one goto, every other tag stands alone. */
function appendTag(output: PathOutput, { name, tag, offset: at }: TagMention, conditions: Conditions): PathOutput {
  if (output.kind === 'clash') return output;
  const about = 'about' in output ? unionConditions(output.about, conditions) : conditions;
  const continuation = continuationName(name === 'fork' ? tag.attributes.next : name === 'goto' ? tag.body : undefined);
  const key = JSON.stringify([name, tag.body, tag.attributes]);
  const one: PathOutput = { kind: 'one', name, key, at, about, next: continuation, forks: output.kind === 'forks' };
  if (output.kind !== 'one' && output.kind !== 'forks')
    return name === 'fork' ? { kind: 'forks', at, about, next: continuation } : one;
  if (output.kind === 'one' && output.key === key) return one;
  const conflict = (reason: TagConflict['reason']): PathOutput =>
    excludes(output.about, conditions) ? { kind: 'some' } : { kind: 'clash', first: output.at, second: at, reason };
  const isFork = [output.kind === 'forks', name === 'fork'];
  if (!isFork.includes(true)) return conflict('two');
  if ((output.kind === 'one' && output.name !== 'goto') || (name !== 'fork' && name !== 'goto'))
    return conflict('forks');
  if (output.next !== null && continuation !== null && output.next !== continuation) return conflict('next');
  if (output.kind === 'one') return { ...output, next: output.next ?? continuation, forks: true };
  return name === 'goto' ? one : { ...output, next: output.next ?? continuation };
}

/** A state's name without its extension, if it is known: with and without it, the same state is meant. */
function continuationName(name: string | undefined): string | null {
  return name === undefined || hasUnknownPart(name) ? null : name.trim().replace(/\.(?:md|sh)$/, '');
}

const isVague = ({ kind }: PathOutput): boolean => kind === 'some' || kind === 'skipped';

function mergeOutputs(a: PathOutput, b: PathOutput): PathOutput {
  if (!('about' in a && 'about' in b)) return a;
  const merged = { ...a, about: unionConditions(a.about, b.about) };
  if (merged.kind === 'one' && b.kind === 'one') return { ...merged, forks: merged.forks || b.forks };
  return merged.kind === 'nothing' && b.kind === 'nothing'
    ? { ...merged, silentSince: merged.silentSince ?? b.silentSince }
    : merged;
}

/** Whether a condition of one way may exclude one of the other; those that both have in common do not. */
function excludes(one: Conditions, other: Conditions): boolean {
  const unshared = other.filter((each) => !one.includes(each));
  return one.some((condition) => !other.includes(condition) && unshared.some((each) => sharesSubject(condition, each)));
}

const sharesSubject = (a: Condition, b: Condition): boolean =>
  [...b.subjects].some((subject) => a.subjects.has(subject));

/** Whether at least one of these may always hold. That a variable has one of two values does not, if it can have others. */
function mayComplete(condition: Condition, others: Conditions): boolean {
  const related = others.filter((each) => each !== condition && sharesSubject(each, condition));
  const values = [condition, ...related].flatMap(({ equality }) =>
    equality?.subject === condition.equality?.subject ? (equality ?? []) : [],
  );
  if (values.length <= related.length) return related.length > 0;
  return condition.equality?.allValues?.every((value) => values.some((each) => each.value === value)) ?? false;
}

/** Whether a condition may hold whenever a script has not failed on account of one of these. */
export const isImpliedByGuards = (condition: Condition, guards: Conditions): boolean =>
  guards.some((guard) => !guard.isExistenceTest && guard !== condition && sharesSubject(guard, condition));

const unionConditions = (a: Conditions, b: Conditions): Conditions => (b.length === 0 ? a : [...new Set([...a, ...b])]);
