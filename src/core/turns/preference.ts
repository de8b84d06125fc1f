import type { Preference } from '../../language/position.ts';
import type { Agent } from '../run/agent.ts';

/** Chooses model and effort of a turn: a tag wins over the state, the state over the options of the run. */
export function choosePreference(tag: Preference, state: Preference, launch: Preference): Preference {
  return {
    model: tag.model ?? state.model ?? launch.model,
    effort: tag.effort ?? state.effort ?? launch.effort,
  };
}

/** Model and effort that were asked for: by a tag for the agent, by the state for the judge of its answers. */
export function preferenceOf({ evaluation, rules, model, effort }: Agent): Preference {
  if (evaluation === null) return { model, effort };
  const evaluator = rules?.evaluators?.[evaluation.index];
  return evaluator?.kind === 'prompt'
    ? { model: evaluator.model, effort: evaluator.effort }
    : { model: null, effort: null };
}
