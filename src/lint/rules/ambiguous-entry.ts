import { WHOLE_FILE } from '../../core/text-position.ts';
import type { Rule } from '../rule.ts';

/** There is more than one state to start in. */
export const ambiguousEntry: Rule = {
  id: 'ambiguous-entry',
  level: 'error',
  check({ workflow }) {
    const { entry, name } = workflow;
    if (entry.kind !== 'ambiguous') return [];
    return [{ file: name, at: WHOLE_FILE, message: entry.message, hint: 'Rename or remove the others.' }];
  },
};
