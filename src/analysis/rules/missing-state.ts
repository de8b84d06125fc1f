import { ruleAboutNames } from '../rule-about-names.ts';

/** A tag or a policy names a state that does not exist. */
export const missingState = ruleAboutNames('missing-state', 'unknown', (name, { names }) => {
  if (name.includes('$'))
    return 'Put double quotes around the tag: between single quotes, a `$` is a character like others.';
  const meant = names.meant(name);
  return meant === null
    ? `Add a state ${name} to the workflow, or name one that exists.`
    : `Write ${meant}, or add a state ${name}.`;
});
