import { isOpen } from './mentions.ts';
import type { Page } from './page.ts';
import { type Place, WHOLE } from './sheet.ts';

/** A model or an effort that a state asks for. */
interface Asked {
  readonly value: string;
  readonly at: Place;
}

/** Every model, or every effort, that a state's file names: in its frontmatter, its policy and its tags. */
export function preferencesOf({ source, tags }: Page, key: 'model' | 'effort'): readonly Asked[] {
  const { state, keys, entries } = source;
  const ofState = state[key];
  const asked = [
    ...(ofState === null ? [] : [{ value: ofState, at: keys[key] ?? WHOLE }]),
    ...state.rules.policy.flatMap(({ attributes }, index) => {
      const value = attributes[key];
      return value === undefined ? [] : [{ value, at: entries[index]?.keys[key] ?? WHOLE }];
    }),
    ...tags.flatMap(({ tag, at, sure }) => {
      const value = tag.attributes[key]?.trim();
      return value === undefined || value === '' || !sure ? [] : [{ value, at }];
    }),
  ];
  const seen = new Set<string>();
  return asked.filter(({ value }) => !isOpen(value) && !seen.has(value) && seen.add(value));
}

/** The efforts that Claude Code knows. */
export const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

/** The names that Claude Code has for models, whatever their version. */
export const ALIASES = ['opus', 'sonnet', 'haiku', 'opusplan', 'default', 'best'];
