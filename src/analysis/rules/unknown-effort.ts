import { didYouMean } from '../../core/nearest.ts';
import { ALIASES, EFFORTS, preferencesOf } from '../preferences.ts';
import { rulePerPage } from '../rule.ts';

/** An effort that Claude Code does not know. */
export const unknownEffort = rulePerPage('unknown-effort', 'warning', (page) =>
  preferencesOf(page, 'effort').flatMap(({ value, at }) => {
    if (EFFORTS.includes(value.toLowerCase())) return [];
    const why = ALIASES.includes(value.toLowerCase()) ? ': that is a model' : didYouMean(value, EFFORTS);
    const hint = `Write ${EFFORTS.slice(0, -1).join(', ')} or ${EFFORTS.at(-1)}.`;
    return [{ file: page.file, at, message: `the effort \`${value}\` is unknown${why}`, hint }];
  }),
);
