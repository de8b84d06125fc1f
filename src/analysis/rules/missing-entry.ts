import type { Rule } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** There is no state to start in. */
export const missingEntry: Rule = {
  id: 'missing-entry',
  level: 'error',
  check({ sheet }) {
    const { entry, name } = sheet;
    if (entry.kind === 'found' || entry.kind === 'ambiguous') return [];
    return [
      {
        file: name,
        at: WHOLE,
        message: entry.message,
        hint: 'A folder or a zip starts in the state 1_START or START: rename the one that comes first.',
      },
    ];
  },
};
