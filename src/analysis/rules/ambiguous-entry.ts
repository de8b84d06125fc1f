import type { Rule } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** There is more than one state to start in. */
export const ambiguousEntry: Rule = {
  id: 'ambiguous-entry',
  level: 'error',
  check({ sheet }) {
    const { entry, name } = sheet;
    if (entry.kind !== 'ambiguous') return [];
    return [{ file: name, at: WHOLE, message: entry.message, hint: 'Rename or remove the others.' }];
  },
};
