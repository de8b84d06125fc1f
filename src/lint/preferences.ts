import type { StateAnalysis } from '../graph/state-analysis.ts';
import { hasUnknownPart } from '../language/tags/tag-mentions.ts';
import { type TextPosition, WHOLE_FILE } from '../language/text/text-position.ts';

/** A model or an effort that a state asks for. */
interface RequestedPreference {
  readonly value: string;
  readonly at: TextPosition;
}

/** Finds every model, or every effort, that a state's file names: in its frontmatter, its policy and its tags. */
export function findPreferences(
  { source, tags }: StateAnalysis,
  key: 'model' | 'effort',
): readonly RequestedPreference[] {
  const { state, keys, entries } = source;
  const ofState = state[key];
  const requested = [
    ...(ofState === null ? [] : [{ value: ofState, at: keys[key] ?? WHOLE_FILE }]),
    ...state.rules.policy.flatMap(({ attributes }, index) => {
      const value = attributes[key];
      return value === undefined ? [] : [{ value, at: entries[index]?.keys[key] ?? WHOLE_FILE }];
    }),
    ...tags.flatMap(({ tag, at, sure }) => {
      const value = tag.attributes[key]?.trim();
      return value === undefined || value === '' || !sure ? [] : [{ value, at }];
    }),
  ];
  const seen = new Set<string>();
  return requested.filter(({ value }) => !hasUnknownPart(value) && !seen.has(value) && seen.add(value));
}
