import { didYouMean } from '../../core/nearest.ts';
import { findAllowComments } from '../allow-comments.ts';
import { rulePerState } from '../rule.ts';

/** A comment allows what no rule looks for. */
export const unknownRule = rulePerState('unknown-rule', 'warning', (analysis, { rules }) =>
  findAllowComments(analysis).flatMap(({ rule, at }) => {
    if (rules.includes(rule)) return [];
    if (rule === '') {
      const message = 'it is not said which rule is allowed to be broken here';
      return [{ file: analysis.file, at, message, hint: 'Name it behind `allow`, as it stands in the finding.' }];
    }
    const message = `lint has no rule \`${rule}\`${didYouMean(rule, rules)}`;
    return [{ file: analysis.file, at, message, hint: 'Correct it, or take it out: as it stands, it allows nothing.' }];
  }),
);
