import { WHOLE_FILE } from '../../language/text/text-position.ts';
import { defineRule } from '../rule.ts';

/** There is more than one state to start in. */
export const ambiguousEntry = defineRule(
  { id: 'ambiguous-entry', level: 'error', blocksStart: 'always' },
  ({ workflow }) => {
    const { entry, name } = workflow;
    if (entry.kind !== 'ambiguous') return [];
    return [{ file: name, at: WHOLE_FILE, message: entry.message, hint: 'Rename or remove the others.' }];
  },
);
