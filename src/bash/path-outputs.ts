import { hasUnknownPart, type TagMention } from '../core/tag-mentions.ts';

/** What a script has printed on one of its paths; offsets are those of the script. See `AbstractInterpreter`. */
export type PathOutput =
  /** `silentSince` is the last command that could have printed a tag and did not, or the `exit`. */
  | { readonly kind: 'nothing'; readonly silentSince: number | null; readonly conditions: Conditions }
  /** Nothing, if the loop here has nothing to iterate over. */
  | { readonly kind: 'skipped'; readonly loop: number; readonly conditions: Conditions }
  /** Some of the tags that stand in the script, or none. */
  | { readonly kind: 'uncertain' }
  /** Perhaps a tag that does not stand in the script. */
  | { readonly kind: 'unknown' }
  | ForkTags
  | SingleTag
  | TagConflict;

/** One tag that is no fork; or a goto, with or without forks. */
export interface SingleTag {
  readonly kind: 'single';
  readonly name: string;
  readonly key: string;
  readonly at: number;
  readonly conditions: Conditions;
  /** The target of a goto, if it is known. */
  readonly next: string | null;
  /** Whether it may stand beside forks. */
  readonly forks: boolean;
}

/** Forks, and the state in which their parent goes on, if it is known. */
export interface ForkTags {
  readonly kind: 'forks';
  readonly at: number;
  readonly conditions: Conditions;
  readonly next: string | null;
}

/** Two tags that exclude each other: there can be only one of them, or forks differ in where their parent goes on. */
export interface TagConflict {
  readonly kind: 'conflict';
  readonly first: number;
  readonly second: number;
  readonly reason: 'two' | 'forks' | 'next' | 'again';
}

/** A question that a script asks before it runs a command. */
export interface Condition {
  /** The variables, files and other things that it names. */
  readonly subjects: ReadonlySet<string>;
  /** The value that it compares a variable with, if that is all it does. */
  readonly equality: Equality | null;
  /** Whether it only asks whether there is something, not what. */
  readonly isExistenceTest: boolean;
}

/** A variable, one of its values, and all of them if they are known. */
export interface Equality {
  readonly subject: string;
  readonly value: string;
  readonly allValues: readonly string[] | null;
}

/** The conditions on a path. Two that ask about the same thing may exclude each other. */
export type Conditions = readonly Condition[];

/** All that may have been printed at some point of a script; empty where no path comes. */
export type PathOutputs = ReadonlyMap<string, PathOutput>;

/** A point of a script that no path comes to. */
export const NO_PATHS: PathOutputs = new Map();

/** More conditions on one path than anybody could see at a glance. */
const MAX_CONDITIONS = 30;

/** The beginning of a script. */
export const NOTHING_PRINTED: PathOutputs = new Map([
  ['nothing', { kind: 'nothing', silentSince: null, conditions: [] }],
]);

/** Unites what may have been printed where several paths come together. */
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

/** Notes the end of something that could have printed a tag: of a branch under this condition, or of the script. */
export const markSilent = (outputs: PathOutputs, at: number, condition?: Condition): PathOutputs =>
  mapOutputs(outputs, (output): PathOutput => {
    if (output.kind === 'skipped' && condition !== undefined && mayComplete(condition, output.conditions))
      return { kind: 'uncertain' };
    if (output.kind !== 'nothing') return output;
    if (condition === undefined) return { ...output, silentSince: at };
    return output.conditions.length > MAX_CONDITIONS || mayComplete(condition, output.conditions)
      ? { kind: 'uncertain' }
      : { kind: 'nothing', silentSince: at, conditions: unionConditions(output.conditions, [condition]) };
  });

/** Claims no longer that nothing was printed: the conditions do not tell. */
export const allowSilence = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => (output.kind === 'nothing' ? { kind: 'uncertain' } : output));

/** Without a tag, or perhaps so. */
const MAYBE_SILENT = new Set<PathOutput['kind']>(['nothing', 'skipped', 'uncertain']);

/** Adds a tag that a program may have printed or not. */
export const addPossibleTag = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => (MAYBE_SILENT.has(output.kind) ? { kind: 'unknown' } : output));

/** Skips a loop that prints tags, because it has nothing to iterate over. */
export const skipLoop = (outputs: PathOutputs, loop: number, condition: Condition): PathOutputs =>
  mapOutputs(outputs, (output) => {
    if (output.kind !== 'nothing') return output;
    return mayComplete(condition, output.conditions)
      ? { kind: 'uncertain' }
      : { kind: 'skipped', loop, conditions: [condition] };
  });

/** Repeats a tag in each iteration of a loop, always with another value. */
export const repeatTag = (outputs: PathOutputs, at: number): PathOutputs =>
  mapOutputs(outputs, (output) =>
    output.kind === 'single' ? { kind: 'conflict', first: at, second: at, reason: 'again' } : output,
  );

/** Adds tags that are printed under these conditions. */
export const appendTags = (outputs: PathOutputs, tags: readonly TagMention[], conditions: Conditions): PathOutputs =>
  tags.reduce((all, tag) => mapOutputs(all, (output) => appendTag(output, tag, conditions)), outputs);

/** Adds a result of which another command prints the end. */
export const appendUnclosedResult = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => {
    return output.kind === 'single'
      ? output
      : { kind: 'single', name: 'result', key: 'result', at: 0, conditions: [], next: null, forks: false };
  });

/** Finds the tags that certainly have been printed where these conditions hold. */
export const findPrintedTags = (outputs: PathOutputs, conditions: Conditions): readonly (SingleTag | ForkTags)[] =>
  [...outputs.values()].flatMap((output) => {
    const hasTags = output.kind === 'single' || output.kind === 'forks';
    return hasTags && conditions.every((condition) => output.conditions.includes(condition)) ? output : [];
  });

function mapOutputs(outputs: PathOutputs, change: (output: PathOutput) => PathOutput): PathOutputs {
  return [...outputs.values()].reduce<PathOutputs>((all, output) => {
    const changed = change(output);
    return joinOutputs(all, new Map([[outputKey(changed), changed]]));
  }, NO_PATHS);
}

function outputKey(output: PathOutput): string {
  if (output.kind === 'single') return output.key;
  return output.kind === 'forks' ? `forks ${output.next}` : output.kind;
}

/** Adds one tag: forks go together and with one goto, every other tag stands alone. */
function appendTag(output: PathOutput, { name, tag, offset: at }: TagMention, conditions: Conditions): PathOutput {
  if (output.kind === 'conflict') return output;
  const combined = 'conditions' in output ? unionConditions(output.conditions, conditions) : conditions;
  const continuation = continuationName(name === 'fork' ? tag.attributes.next : name === 'goto' ? tag.body : undefined);
  const key = JSON.stringify([name, tag.body, tag.attributes]);
  const place = { at, conditions: combined, next: continuation };
  const single: PathOutput = { kind: 'single', name, key, ...place, forks: output.kind === 'forks' };
  if (output.kind !== 'single' && output.kind !== 'forks')
    return name === 'fork' ? { kind: 'forks', ...place } : single;
  if (output.kind === 'single' && output.key === key) return single;
  const conflict = (reason: TagConflict['reason']): PathOutput =>
    excludes(output.conditions, conditions)
      ? { kind: 'uncertain' }
      : { kind: 'conflict', first: output.at, second: at, reason };
  if (output.kind !== 'forks' && name !== 'fork') return conflict('two');
  if ((output.kind === 'single' && output.name !== 'goto') || (name !== 'fork' && name !== 'goto'))
    return conflict('forks');
  if (output.next !== null && continuation !== null && output.next !== continuation) return conflict('next');
  if (output.kind === 'single') return { ...output, next: output.next ?? continuation, forks: true };
  return name === 'goto' ? single : { ...output, next: output.next ?? continuation };
}

/** The name of a state without its extension, if it is known: with and without it, the same state is meant. */
function continuationName(name: string | undefined): string | null {
  return name === undefined || hasUnknownPart(name) ? null : name.trim().replace(/\.(?:md|sh)$/, '');
}

/** Unites two outputs with the same key. */
function mergeOutputs(a: PathOutput, b: PathOutput): PathOutput {
  if (!('conditions' in a && 'conditions' in b)) return a;
  const merged = { ...a, conditions: unionConditions(a.conditions, b.conditions) };
  if (merged.kind === 'single' && b.kind === 'single') return { ...merged, forks: merged.forks || b.forks };
  return merged.kind === 'nothing' && b.kind === 'nothing'
    ? { ...merged, silentSince: merged.silentSince ?? b.silentSince }
    : merged;
}

/** Whether a condition of one path may exclude one of the other; those that both have in common do not. */
function excludes(one: Conditions, other: Conditions): boolean {
  const unshared = other.filter((each) => !one.includes(each));
  return one.some((condition) => !other.includes(condition) && unshared.some((each) => sharesSubject(condition, each)));
}

const sharesSubject = (a: Condition, b: Condition): boolean =>
  [...b.subjects].some((subject) => a.subjects.has(subject));

/** Whether one of these conditions may always hold. Two values of a variable are not all of them, if it can have others. */
function mayComplete(condition: Condition, others: Conditions): boolean {
  const related = others.filter((each) => each !== condition && sharesSubject(each, condition));
  const values = [condition, ...related].flatMap(({ equality }) =>
    equality?.subject === condition.equality?.subject ? (equality ?? []) : [],
  );
  if (values.length <= related.length) return related.length > 0;
  return condition.equality?.allValues?.every((value) => values.some((each) => each.value === value)) ?? false;
}

/** Tells whether a condition may hold whenever the script has not given up under one of these. */
export const isImpliedByGuards = (condition: Condition, guards: Conditions): boolean =>
  guards.some((guard) => !guard.isExistenceTest && guard !== condition && sharesSubject(guard, condition));

const unionConditions = (a: Conditions, b: Conditions): Conditions => (b.length === 0 ? a : [...new Set([...a, ...b])]);
