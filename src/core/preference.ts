import type { Preference } from './position.ts';

const MODEL_ALIAS = /^(opus|sonnet|haiku|opusplan|default|best)(\[1m\])?$/i;

/** Normalizes the name of a model for Claude Code: aliases in lower case, full ids as written. */
export const normalizeModel = (written: string): string =>
  MODEL_ALIAS.test(written) ? written.toLowerCase() : written;

/** Normalizes an effort for Claude Code. */
export const normalizeEffort = (written: string): string => written.toLowerCase();

/** Chooses model and effort of a turn: a tag wins over the state, the state over the options of the run. */
export function choosePreference(tag: Preference, state: Preference, launch: Preference): Preference {
  return {
    model: tag.model ?? state.model ?? launch.model,
    effort: tag.effort ?? state.effort ?? launch.effort,
  };
}
