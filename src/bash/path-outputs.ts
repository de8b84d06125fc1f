import { stem } from '../language/state-names.ts';
import { hasUnknownPart, type TagMention } from '../language/tags/tag-mentions.ts';
import { isContinuation, startsWorkers } from '../language/transitions/index.ts';
import { type Condition, type Conditions, mayCoverAllCases, mayExclude, unionConditions } from './conditions.ts';

/** The output of a script on one of its paths, with offsets into the script. See `AbstractInterpreter`. */
export type PathOutput =
  /** `silentSince` is the last command that could have printed a tag and did not, or the `exit`. */
  | { readonly kind: 'nothing'; readonly silentSince: number | null; readonly conditions: Conditions }
  /** Nothing, if the loop here has nothing to iterate over. */
  | { readonly kind: 'skipped'; readonly loop: number; readonly conditions: Conditions }
  /** Some of the tags that are written in the script, or none. */
  | { readonly kind: 'uncertain' }
  /** Perhaps a tag that is not written in the script. */
  | { readonly kind: 'unknown' }
  | ForkTags
  | SingleTag
  | TagConflict;

/** One tag that starts no workers; or a continuation, with or without forks. */
export interface SingleTag {
  readonly kind: 'single';
  readonly name: string;
  readonly key: string;
  readonly at: number;
  readonly conditions: Conditions;
  /** The state in which the agent continues, if it is known. */
  readonly continuation: string | null;
  /** True if forks may have been printed before or after it. */
  readonly besideForks: boolean;
}

/** Forks, and the state in which their parent continues, if it is known. */
export interface ForkTags {
  readonly kind: 'forks';
  readonly at: number;
  readonly conditions: Conditions;
  readonly continuation: string | null;
}

/** Two tags that exclude each other: there can be only one of them, or forks differ in where their parent continues. */
export interface TagConflict {
  readonly kind: 'conflict';
  readonly first: number;
  readonly second: number;
  readonly reason: 'two-tags' | 'tag-beside-forks' | 'different-next' | 'repeated-in-loop';
}

/** All that may have been printed at some point of a script; empty where no path comes. */
export type PathOutputs = ReadonlyMap<string, PathOutput>;

/** A point of a script that no path comes to. */
export const NO_PATHS: PathOutputs = new Map();

/** More conditions on one path than this make it uncertain. */
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
    if (output.kind === 'skipped' && condition !== undefined && mayCoverAllCases(condition, output.conditions))
      return { kind: 'uncertain' };
    if (output.kind !== 'nothing') return output;
    if (condition === undefined) return { ...output, silentSince: at };
    return output.conditions.length > MAX_CONDITIONS || mayCoverAllCases(condition, output.conditions)
      ? { kind: 'uncertain' }
      : { kind: 'nothing', silentSince: at, conditions: unionConditions(output.conditions, [condition]) };
  });

/** Turns `nothing` into `uncertain`, so that no silent path is reported. */
export const forgetSilence = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => (output.kind === 'nothing' ? { kind: 'uncertain' } : output));

/** The outputs that may contain no tag. */
const MAYBE_SILENT = new Set<PathOutput['kind']>(['nothing', 'skipped', 'uncertain']);

/** Adds a tag that a program may have printed or not. */
export const addPossibleTag = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => (MAYBE_SILENT.has(output.kind) ? { kind: 'unknown' } : output));

/** Skips a loop that prints tags, because it has nothing to iterate over. */
export const skipLoop = (outputs: PathOutputs, loop: number, condition: Condition): PathOutputs =>
  mapOutputs(outputs, (output) => {
    if (output.kind !== 'nothing') return output;
    return mayCoverAllCases(condition, output.conditions)
      ? { kind: 'uncertain' }
      : { kind: 'skipped', loop, conditions: [condition] };
  });

/** Repeats a tag in each iteration of a loop, always with another value. */
export const repeatTag = (outputs: PathOutputs, at: number): PathOutputs =>
  mapOutputs(outputs, (output) =>
    output.kind === 'single' ? { kind: 'conflict', first: at, second: at, reason: 'repeated-in-loop' } : output,
  );

/** Adds tags that are printed under these conditions. */
export const appendTags = (outputs: PathOutputs, tags: readonly TagMention[], conditions: Conditions): PathOutputs =>
  tags.reduce((all, tag) => mapOutputs(all, (output) => appendTag(output, tag, conditions)), outputs);

/** Adds a result of which another command prints the end. */
export const appendUnclosedResult = (outputs: PathOutputs): PathOutputs =>
  mapOutputs(outputs, (output) => (output.kind === 'single' ? output : UNCLOSED_RESULT));

const PLAIN_TAG = { kind: 'single', at: 0, conditions: [], continuation: null, besideForks: false } as const;
const UNCLOSED_RESULT: SingleTag = { ...PLAIN_TAG, name: 'result', key: 'result' };

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
  return output.kind === 'forks' ? `forks ${output.continuation}` : output.kind;
}

/** Adds one tag: those that start workers go together and with one continuation, every other tag must be alone. */
function appendTag(output: PathOutput, { name, tag, offset: at }: TagMention, conditions: Conditions): PathOutput {
  if (output.kind === 'conflict') return output;
  const combined = 'conditions' in output ? unionConditions(output.conditions, conditions) : conditions;
  const isFork = startsWorkers(name);
  const continuation = continuationName(isFork ? tag.attributes.next : isContinuation(name) ? tag.body : undefined);
  const key = JSON.stringify([name, tag.body, tag.attributes]);
  const place = { at, conditions: combined, continuation };
  const single: PathOutput = { kind: 'single', name, key, ...place, besideForks: output.kind === 'forks' };
  if (output.kind !== 'single' && output.kind !== 'forks') return isFork ? { kind: 'forks', ...place } : single;
  if (output.kind === 'single' && output.key === key) return single;
  const conflict = (reason: TagConflict['reason']): PathOutput =>
    mayExclude(output.conditions, conditions)
      ? { kind: 'uncertain' }
      : { kind: 'conflict', first: output.at, second: at, reason };
  if (output.kind !== 'forks' && !isFork) return conflict('two-tags');
  if ((output.kind === 'single' && !isContinuation(output.name)) || (!isFork && !isContinuation(name)))
    return conflict('tag-beside-forks');
  if (output.continuation !== null && continuation !== null && output.continuation !== continuation)
    return conflict('different-next');
  if (output.kind === 'single')
    return { ...output, continuation: output.continuation ?? continuation, besideForks: true };
  return isFork ? { ...output, continuation: output.continuation ?? continuation } : single;
}

/** The name of a state without its extension, if it is known: with and without it, the same state is meant. */
function continuationName(name: string | undefined): string | null {
  return name === undefined || hasUnknownPart(name) ? null : stem(name.trim());
}

/** Unites two outputs with the same key. */
function mergeOutputs(a: PathOutput, b: PathOutput): PathOutput {
  if (!('conditions' in a && 'conditions' in b)) return a;
  const merged = { ...a, conditions: unionConditions(a.conditions, b.conditions) };
  if (merged.kind === 'single' && b.kind === 'single')
    return { ...merged, besideForks: merged.besideForks || b.besideForks };
  return merged.kind === 'nothing' && b.kind === 'nothing'
    ? { ...merged, silentSince: merged.silentSince ?? b.silentSince }
    : merged;
}
