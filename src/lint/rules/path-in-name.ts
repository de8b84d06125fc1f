import { defineNameRule } from '../unresolved-names.ts';

/** A state is named by a path. */
export const pathInName = defineNameRule(
  { id: 'path-in-name', reason: 'unsafe', blocksStart: 'in-frontmatter' },
  () => 'Write only the file name: all states of a workflow are in one folder.',
);
