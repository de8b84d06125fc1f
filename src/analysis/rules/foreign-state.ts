import { ruleAboutNames } from '../rule-about-names.ts';

/** A state exists only as a script for another system. */
export const foreignState = ruleAboutNames('foreign-state', 'foreign', (_, { sheet }) => {
  return `Add the script for ${sheet.platform === 'unix' ? 'Unix' : 'Windows'}, or lint for the other platform.`;
});
