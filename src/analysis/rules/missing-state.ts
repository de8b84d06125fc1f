import { ruleAboutNames } from '../rule-about-names.ts';

/** A tag or a policy names a state that does not exist. */
export const missingState = ruleAboutNames('missing-state', 'unknown', (name, { names }) => {
  const meant = names.meant(name);
  return meant === null ? `Add ${name} to the workflow, or name a state that exists.` : `Write ${meant}.`;
});
