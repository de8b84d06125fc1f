import type { Preference } from './position.ts';

/** Chooses model and effort of a turn: a tag wins over the state, the state over the options of the run. */
export function choosePreference(tag: Preference, state: Preference, launch: Preference): Preference {
  return {
    model: tag.model ?? state.model ?? launch.model,
    effort: tag.effort ?? state.effort ?? launch.effort,
  };
}
