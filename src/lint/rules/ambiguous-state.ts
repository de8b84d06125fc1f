import { ruleForUnresolvedNames } from '../rule.ts';

/** A name without extension could be a prompt or a script. */
export const ambiguousState = ruleForUnresolvedNames(
  'ambiguous-state',
  'ambiguous',
  (name, { names }) => `Write ${names.candidatesFor(name).join(' or ')}.`,
);
