import { didYouMean } from '../../core/nearest.ts';
import { findAllowComments } from '../allow-comments.ts';
import { defineStateRule } from '../rule.ts';

/** A comment allows what no rule looks for. */
export const unknownRule = defineStateRule({ id: 'unknown-rule', level: 'warning' }, (analysis, { ruleIds }) =>
  findAllowComments(analysis).flatMap(({ rule, at }) => {
    if (ruleIds.includes(rule)) return [];
    if (rule === '') {
      const message = 'it is not said which rule is allowed to be broken here';
      return [{ at, message, hint: 'Name it behind `allow`, as it stands in the finding.' }];
    }
    const message = `lint has no rule \`${rule}\`${didYouMean(rule, ruleIds)}`;
    return [{ at, message, hint: 'Correct it, or take it out: as it stands, it allows nothing.' }];
  }),
);
