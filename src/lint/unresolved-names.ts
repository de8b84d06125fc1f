import { namedStates } from '../core/policy.ts';
import type { Resolution } from '../core/state-names.ts';
import { type TextPosition, WHOLE_FILE } from '../core/text-position.ts';
import { TRANSITIONS } from '../core/transitions/index.ts';
import { formatNamePattern } from '../graph/name-pattern.ts';
import { findMatchingStates, isNameDecidedAtRuntime, isUnlikelyStateName } from '../graph/partial-names.ts';
import type { PlacedTag, StateAnalysis } from '../graph/state-analysis.ts';
import type { StateResolver } from '../graph/state-resolver.ts';
import { type EmptyName, explainEmptyNames } from './empty-names.ts';
import { quoteTag } from './messages.ts';

/** A name in a state's file that leads to no state, and why. */
export interface UnresolvedName {
  readonly name: string;
  readonly at: TextPosition;
  /** What says it, as the beginning of a message. */
  readonly shown: string;
  readonly level: 'error' | 'warning';
  readonly found: Exclude<Resolution, { kind: 'found' }>;
  /** What to do about it, if the file itself tells. */
  readonly hint?: string;
}

/** The names of a state's file that lead to no state, in its policy and in its tags. */
export function findUnresolvedNames(analysis: StateAnalysis, names: StateResolver): readonly UnresolvedName[] {
  const { policy } = analysis.source.state.rules;
  const entries = policy.flatMap((entry, index) =>
    namedStates(entry).flatMap(([key, name]): UnresolvedName[] => {
      const found = names.resolve(name);
      if (found.kind === 'found') return [];
      const positions = analysis.source.entries[index];
      const at = positions?.keys[key] ?? positions?.at ?? WHOLE_FILE;
      return [{ name, at, shown: `\`${key}\``, level: 'error', found }];
    }),
  );
  const explainEmpty = explainEmptyNames(analysis, names);
  return [...entries, ...analysis.forms.flatMap((tag) => findUnresolvedInTag(tag, analysis, names, explainEmpty))];
}

function findUnresolvedInTag(
  placed: PlacedTag,
  analysis: StateAnalysis,
  names: StateResolver,
  explainEmpty: (placed: PlacedTag) => EmptyName | null,
): readonly UnresolvedName[] {
  const { name, tag, at, sure } = placed;
  const { body, required } = TRANSITIONS[name];
  const keys = body === 'state' ? (['', ...required] as const) : required;
  return keys.flatMap((key): readonly UnresolvedName[] => {
    const state = (key === '' ? tag.body : (tag.attributes[key] ?? '')).trim();
    const found = names.resolve(state);
    if (!sure || found.kind === 'found') return [];
    // That an attribute is not there at all is another rule's.
    if (state === '') return key === '' ? emptyName(explainEmpty(placed), at, analysis) : [];
    const shown = quoteTag(name, tag) + (key === '' ? '' : `: \`${key}\``);
    if (findMatchingStates(state, analysis, names)?.length === 0) return [noMatchingState(state, at, shown)];
    if (isNameDecidedAtRuntime(state, analysis, names) || isUnlikelyStateName(state, placed, names)) return [];
    return [{ name: state, at, shown, level: levelForTag(analysis), found }];
  });
}

/** A name that finds no state, whatever is put in. */
function noMatchingState(name: string, at: TextPosition, shown: string): UnresolvedName {
  const message = `no state of this workflow is named like \`${formatNamePattern(name)}\``;
  const hint = 'Add such a state, or correct what is known of the name.';
  return { name, at, shown, level: 'warning', found: { kind: 'unknown', message }, hint };
}

function emptyName(empty: EmptyName | null, at: TextPosition, analysis: StateAnalysis): readonly UnresolvedName[] {
  if (empty === null) return [];
  const found = { kind: 'unknown', message: 'the name of the state is empty' } as const;
  return [{ name: '', at, ...empty, level: levelForTag(analysis), found }];
}

/** A tag that is not followed as it stands only misleads, if a policy says what really happens. */
export const levelForTag = (analysis: StateAnalysis): UnresolvedName['level'] =>
  analysis.kind === 'prompt' && analysis.source.state.rules.policy.length > 0 ? 'warning' : 'error';
