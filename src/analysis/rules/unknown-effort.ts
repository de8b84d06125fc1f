import { didYouMean } from '../../core/nearest.ts';
import { preferencesOf } from '../preferences.ts';
import { rulePerPage } from '../rule.ts';

const EFFORTS = ['low', 'medium', 'high', 'xhigh', 'max'];

/** An effort that Claude Code does not know. */
export const unknownEffort = rulePerPage('unknown-effort', 'warning', (page) =>
  preferencesOf(page, 'effort').flatMap(({ value, at }) => {
    if (EFFORTS.includes(value.toLowerCase())) return [];
    const message = `the effort \`${value}\` is unknown${didYouMean(value, EFFORTS)}`;
    return [{ file: page.file, at, message, hint: `Write ${EFFORTS.slice(0, -1).join(', ')} or ${EFFORTS.at(-1)}.` }];
  }),
);
