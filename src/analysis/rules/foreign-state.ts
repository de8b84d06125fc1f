import { ruleAboutNames } from '../rule-about-names.ts';

/** A state exists only as a script for another system. */
export const foreignState = ruleAboutNames('foreign-state', 'foreign', (_, { sheet }) => {
  const [here, there] = sheet.platform === 'unix' ? ['Unix', 'windows'] : ['Windows', 'unix'];
  return `Add the script for ${here}; if the workflow is not for ${here}, lint it with --platform ${there}.`;
});
