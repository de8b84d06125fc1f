import { ruleAboutNames } from '../rule-about-names.ts';

/** A state is named by a path. */
export const pathInName = ruleAboutNames('path-in-name', 'unsafe', (name) => {
  if (name === '') return 'Write the name of a state between the tags.';
  return 'Write only the file name: all states of a workflow stand side by side.';
});
