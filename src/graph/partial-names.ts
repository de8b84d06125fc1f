import { hasUnknownPart } from '../core/tag-mentions.ts';
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
