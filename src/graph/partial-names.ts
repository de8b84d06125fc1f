import { isStateFile, stem } from '../core/state-names.ts';
import { hasUnknownPart, UNKNOWN } from '../core/tag-mentions.ts';
import { isPlaceholderName } from './placeholders.ts';
import type { PlacedTag, StateAnalysis } from './state-analysis.ts';
import type { StateResolver } from './state-resolver.ts';

/** The states that fit what a page says of a name; undefined if it says all of it, or next to nothing. */
export const findMatchingStates = (
  name: string,
  { kind }: StateAnalysis,
  names: StateResolver,
): readonly string[] | undefined =>
  // Only prompts are templates.
  kind === 'script' && name.includes('{{') ? undefined : names.matching(name);

/** A tag as it may be said; `part` if only a part of its names is known. */
export type CandidateTag = PlacedTag & { readonly part: boolean };

/** More than these are as good as any. */
const MAX_CANDIDATES = 100;

/** What a tag may be when its names are filled in; the tag itself if they are all there, or may be anything. */
export function expandCandidates(
  placed: PlacedTag,
  analysis: StateAnalysis,
  names: StateResolver,
): readonly CandidateTag[] {
  const { tag } = placed;
  const { return: back, next } = tag.attributes;
  if (![tag.body, back ?? '', next ?? ''].some(hasUnknownPart)) return [{ ...placed, part: false }];
  const fill = (name: string): readonly string[] => {
    const found = findMatchingStates(name.trim(), analysis, names) ?? [];
    return found.length === 0 ? [name] : found;
  };
  const bodies = fill(tag.body);
  const backs = back === undefined ? [{}] : fill(back).map((state) => ({ return: state }));
  const nexts = next === undefined ? [{}] : fill(next).map((state) => ({ next: state }));
  const count = bodies.length * backs.length * nexts.length;
  if (count > MAX_CANDIDATES) return [{ ...placed, part: false }];
  const part = [tag.body, back, next].some((name) => name !== undefined && fill(name)[0] !== name);
  return bodies.flatMap((body) =>
    backs.flatMap((one) =>
      nexts.map((other) => {
        return { ...placed, part, tag: { ...tag, body, attributes: { ...tag.attributes, ...one, ...other } } };
      }),
    ),
  );
}

/** Whether a name that finds no state need not find one, because it stands for one that will be said. */
export function isNameDecidedAtRuntime(name: string, { kind, explains }: StateAnalysis, names: StateResolver): boolean {
  // Only prompts are templates: what stands in braces in a script stays as it is.
  if (kind === 'script') return name.includes(UNKNOWN);
  return isPlaceholderName(name) || (names.suggest(name) === null && explains(stem(name)));
}

/**
 * Whether a value that a script might put into a tag is hardly meant for it: it is not written like a state and not like the
 * name of one either. A script may well hold `none` in the variable that later holds the next state.
 */
export const isUnlikelyStateName = (state: string, { filled = false }: PlacedTag, names: StateResolver): boolean =>
  filled && !isStateFile(state) && names.resolve(state).kind !== 'found' && names.suggest(state) === null;
