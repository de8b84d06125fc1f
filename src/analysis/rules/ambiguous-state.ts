import { ruleAboutNames } from '../rule-about-names.ts';

/** A name without extension could be a prompt or a script. */
export const ambiguousState = ruleAboutNames(
  'ambiguous-state',
  'ambiguous',
  (name, { names }) => `Write ${names.couldBe(name).join(' or ')}.`,
);
