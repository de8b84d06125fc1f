import type { Resolution } from '../core/names.ts';
import { statesNamed } from '../core/policy.ts';
import { TRANSITIONS } from '../core/transitions/index.ts';
import { type EmptyName, emptyNamesIn } from './empty-name.ts';
import { isFarFetched } from './far-fetched.ts';
import type { Page, PlacedTag } from './page.ts';
import { statesLike } from './partial.ts';
import { showPattern } from './pattern.ts';
import type { Resolver } from './resolver.ts';
import { type Place, WHOLE } from './sheet.ts';
import { isVague } from './vague.ts';
import { showTag } from './words.ts';

/** A name in a state's file that leads to no state, and why. */
export interface BadName {
  readonly name: string;
  readonly at: Place;
  /** What says it, as the beginning of a message. */
  readonly shown: string;
  readonly level: 'error' | 'warning';
  readonly found: Exclude<Resolution, { kind: 'found' }>;
  /** What to do about it, if the file itself tells. */
  readonly hint?: string;
}

/** The names of a state's file that lead to no state, in its policy and in its tags. */
export function badNamesIn(page: Page, names: Resolver): readonly BadName[] {
  const { policy } = page.source.state.rules;
  const entries = policy.flatMap((entry, index) =>
    statesNamed(entry).flatMap(([key, name]): BadName[] => {
      const found = names.resolve(name);
      if (found.kind === 'found') return [];
      const places = page.source.entries[index];
      const at = places?.keys[key] ?? places?.at ?? WHOLE;
      return [{ name, at, shown: `\`${key}\``, level: 'error', found }];
    }),
  );
  const emptyIn = emptyNamesIn(page, names);
  return [...entries, ...page.forms.flatMap((tag) => badNamesOf(tag, page, names, emptyIn))];
}

function badNamesOf(
  placed: PlacedTag,
  page: Page,
  names: Resolver,
  emptyIn: (placed: PlacedTag) => EmptyName | null,
): readonly BadName[] {
  const { name, tag, at, sure } = placed;
  const { body, required } = TRANSITIONS[name];
  const keys = body === 'state' ? (['', ...required] as const) : required;
  return keys.flatMap((key): readonly BadName[] => {
    const state = (key === '' ? tag.body : (tag.attributes[key] ?? '')).trim();
    const found = names.resolve(state);
    if (!sure || found.kind === 'found') return [];
    // That an attribute is not there at all is another rule's.
    if (state === '') return key === '' ? emptyName(emptyIn(placed), at, page) : [];
    const shown = showTag(name, tag) + (key === '' ? '' : `: \`${key}\``);
    if (statesLike(state, page, names)?.length === 0) return [unlikeAny(state, at, shown)];
    if (isVague(state, page, names) || isFarFetched(state, placed, names)) return [];
    return [{ name: state, at, shown, level: levelOf(page), found }];
  });
}

/** A name that finds no state, whatever is put in. */
function unlikeAny(name: string, at: Place, shown: string): BadName {
  const message = `no state of this workflow is named like \`${showPattern(name)}\``;
  const hint = 'Add such a state, or correct what is known of the name.';
  return { name, at, shown, level: 'warning', found: { kind: 'unknown', message }, hint };
}

function emptyName(empty: EmptyName | null, at: Place, page: Page): readonly BadName[] {
  if (empty === null) return [];
  const found = { kind: 'unknown', message: 'the name of the state is empty' } as const;
  return [{ name: '', at, ...empty, level: levelOf(page), found }];
}

/** A tag that is not followed as it stands only misleads, if a policy says what really happens. */
export const levelOf = (page: Page): BadName['level'] =>
  page.kind === 'prompt' && page.source.state.rules.policy.length > 0 ? 'warning' : 'error';
