import type { Rule } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** There is no state to start in. */
export const missingEntry: Rule = {
  id: 'missing-entry',
  level: 'error',
  check({ sheet }) {
    const { entry, name } = sheet;
    if (entry.kind === 'found' || entry.kind === 'ambiguous') return [];
    return [{ file: name, at: WHOLE, message: entry.message, hint: 'A folder or zip starts in 1_START or START.' }];
  },
};
