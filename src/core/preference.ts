import type { Preference } from './position.ts';

const MODEL_ALIAS = /^(opus|sonnet|haiku|opusplan|default|best)(\[1m\])?$/i;

/** A model as Claude Code wants it: aliases in lower case, full ids as written. */
export const normalizeModel = (written: string): string =>
  MODEL_ALIAS.test(written) ? written.toLowerCase() : written;

/** An effort as Claude Code wants it. */
export const normalizeEffort = (written: string): string => written.toLowerCase();

/** What a turn asks for: the tag's wish goes before the state's, the state's before the command line's. */
export function choosePreference(tag: Preference, state: Preference, launch: Preference): Preference {
  return {
    model: tag.model ?? state.model ?? launch.model,
    effort: tag.effort ?? state.effort ?? launch.effort,
  };
}
