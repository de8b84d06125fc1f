import { ruleForUnresolvedNames } from '../rule.ts';

/** A state is named by a path. */
export const pathInName = ruleForUnresolvedNames(
  'path-in-name',
  'unsafe',
  () => 'Write only the file name: all states of a workflow stand side by side.',
);
