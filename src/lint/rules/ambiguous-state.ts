import { fileInWorkflow } from '../../language/named-workflows.ts';
import { defineNameRule } from '../unresolved-names.ts';

/** A name without extension could be a prompt or a script. */
export const ambiguousState = defineNameRule(
  { id: 'ambiguous-state', reason: 'ambiguous', blocksStart: 'in-frontmatter' },
  (name, { names }) => `Write ${names.candidatesFor(name).map(fileInWorkflow).join(' or ')}.`,
);
