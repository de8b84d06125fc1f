import { isStateFile } from '../language/state-names.ts';
import { STATE_ATTRIBUTES } from '../language/tags/tag.ts';
import { hasUnknownPart, UNKNOWN } from '../language/tags/tag-mentions.ts';
import { TRANSITIONS, takesAttribute } from '../language/transitions/index.ts';
import type { PlacedTag, StateAnalysis } from './state-analysis.ts';
import type { StateResolver } from './state-resolver.ts';

/** True if a name in a prompt stands for one that the agent is to choose: `STATE`, `[NAME].md`, `…`, or nothing at all. */
const isPlaceholderName = (name: string): boolean =>
  hasUnknownPart(name) || name.trim() === '' || PLACEHOLDER.test(name);

const PLACEHOLDER =
  /[\s{}$[\]<>…*?]|\.\.\.|^(?:(?:the|your|next|target)[-_]?)?(?:state|name|file|filename|target)(?:[-_]?name)?(?:\.md)?$/i;

/** Finds the states that fit a name of which a part is known; undefined if all of it is known, or next to nothing. */
export const findMatchingStates = (
  name: string,
  { kind }: StateAnalysis,
  names: StateResolver,
): readonly string[] | undefined =>
  // Only prompts are templates.
  kind === 'script' && name.includes('{{') ? undefined : names.matching(name);

/** A tag with one possible state for each name that is partly known; `isPartial` if there is such a name. */
export type CandidateTag = PlacedTag & { readonly isPartial: boolean };

/** More candidates than these count as any state. */
const MAX_CANDIDATES = 100;

/** Fills in the names of a tag in every way that fits; the tag itself if they are all known, or may be anything. */
export function expandCandidates(
  placed: PlacedTag,
  analysis: StateAnalysis,
  names: StateResolver,
): readonly CandidateTag[] {
  const { tag } = placed;
  let candidates = [{ ...placed, isPartial: false }];
  for (const key of ['body', ...STATE_ATTRIBUTES] as const) {
    if (key === 'body' ? TRANSITIONS[placed.name].body !== 'state' : !takesAttribute(placed.name, key)) continue;
    const name = key === 'body' ? tag.body : tag.attributes[key];
    if (name === undefined || !hasUnknownPart(name)) continue;
    const states = findMatchingStates(name.trim(), analysis, names) ?? [];
    if (states.length === 0) continue;
    candidates = candidates.flatMap((candidate) =>
      states.map((state) => ({ ...candidate, isPartial: true, tag: withState(candidate.tag, key, state) })),
    );
    if (candidates.length > MAX_CANDIDATES) return [{ ...placed, isPartial: false }];
  }
  return candidates;
}

const withState = (
  tag: PlacedTag['tag'],
  key: 'body' | (typeof STATE_ATTRIBUTES)[number],
  state: string,
): PlacedTag['tag'] =>
  key === 'body' ? { ...tag, body: state } : { ...tag, attributes: { ...tag.attributes, [key]: state } };

/** True if a name that finds no state is chosen at run time. Only prompts are templates. */
export const isNameDecidedAtRuntime = (name: string, { kind }: StateAnalysis): boolean =>
  kind === 'script' ? name.includes(UNKNOWN) : isPlaceholderName(name);

/**
 * True if a value that a script might put into a tag is hardly meant for it: it neither ends like a state nor comes
 * near the name of one. A script may hold `none` in the variable that later holds the next state.
 */
export const isUnlikelyStateName = (state: string, { filled = false }: PlacedTag, names: StateResolver): boolean =>
  filled && !isStateFile(state) && names.fileOf(state) === undefined && names.suggest(state) === null;
