import type { Resolution } from '../core/names.ts';
import { statesNamed } from '../core/policy.ts';
import { TRANSITIONS } from '../core/transitions/index.ts';
import { isPlaceholder } from './edges.ts';
import { isOpen } from './mentions.ts';
import type { Page, PlacedTag } from './page.ts';
import type { Resolver } from './resolver.ts';
import { type Place, WHOLE } from './sheet.ts';
import { showTag } from './words.ts';

/** A name in a state's file that leads to no state, and why. */
export interface BadName {
  readonly name: string;
  readonly at: Place;
  /** What says it, as the beginning of a message. */
  readonly shown: string;
  readonly level: 'error' | 'warning';
  readonly found: Exclude<Resolution, { kind: 'found' }>;
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
  return [...entries, ...page.forms.flatMap((tag) => badNamesOf(tag, page, names))];
}

function badNamesOf({ name, tag, at, sure }: PlacedTag, page: Page, names: Resolver): readonly BadName[] {
  const { body, required } = TRANSITIONS[name];
  const keys = body === 'state' ? (['', ...required] as const) : required;
  return keys.flatMap((key): BadName[] => {
    const state = (key === '' ? tag.body : (tag.attributes[key] ?? '')).trim();
    const found = names.resolve(state);
    if (!sure || found.kind === 'found') return [];
    const vague = page.kind === 'prompt' ? isPlaceholder(state) : isOpen(state);
    // What is not there at all is another rule's.
    if (vague || (key !== '' && state === '')) return [];
    const shown = showTag(name, tag) + (key === '' ? '' : `: \`${key}\``);
    return [{ name: state, at, shown, level: levelOf(page), found }];
  });
}

/** A tag that is not followed as it stands only misleads, if a policy says what really happens. */
export const levelOf = (page: Page): BadName['level'] =>
  page.kind === 'prompt' && page.source.state.rules.policy.length > 0 ? 'warning' : 'error';
