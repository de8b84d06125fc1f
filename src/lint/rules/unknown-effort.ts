import { didYouMean } from '../../core/nearest.ts';
import { EFFORTS, findPreferences, MODEL_ALIASES } from '../preferences.ts';
import { defineStateRule } from '../rule.ts';

/** A state asks for an effort that Claude Code does not know. */
export const unknownEffort = defineStateRule({ id: 'unknown-effort', level: 'warning' }, (analysis) =>
  findPreferences(analysis, 'effort').flatMap(({ value, at }) => {
    if (EFFORTS.includes(value.toLowerCase())) return [];
    const why = MODEL_ALIASES.includes(value.toLowerCase()) ? ': that is a model' : didYouMean(value, EFFORTS);
    const hint = `Write ${EFFORTS.slice(0, -1).join(', ')} or ${EFFORTS.at(-1)}.`;
    return [{ at, message: `the effort \`${value}\` is unknown${why}`, hint }];
  }),
);
