import { didYouMean } from '../../language/text/nearest.ts';
import { findAllowComments } from '../allow-comments.ts';
import { defineStateRule } from '../rule.ts';

/** A comment allows a rule that does not exist. */
export const unknownRule = defineStateRule({ id: 'unknown-rule', level: 'warning' }, (analysis, { ruleIds }) =>
  findAllowComments(analysis).flatMap(({ rule, at }) => {
    if (ruleIds.includes(rule)) return [];
    if (rule === '') {
      const message = 'the comment does not say which rule it allows';
      return [{ at, message, hint: 'Name the rule after `allow`, as the finding shows it.' }];
    }
    const message = `lint has no rule \`${rule}\`${didYouMean(rule, ruleIds)}`;
    return [{ at, message, hint: 'Correct it or remove it: it allows nothing.' }];
  }),
);
