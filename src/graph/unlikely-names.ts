import { isStateFile } from '../core/state-names.ts';
import type { PlacedTag } from './state-analysis.ts';
import type { StateResolver } from './state-resolver.ts';

/**
 * Whether a value that a script might put into a tag is hardly meant for it: it is not written like a state and not like the
 * name of one either. A script may well hold `none` in the variable that later holds the next state.
 */
export const isUnlikelyStateName = (state: string, { filled = false }: PlacedTag, names: StateResolver): boolean =>
  filled && !isStateFile(state) && names.resolve(state).kind !== 'found' && names.suggest(state) === null;
