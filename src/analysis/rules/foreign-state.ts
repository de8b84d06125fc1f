import { ruleAboutNames } from '../rule-about-names.ts';
import type { Sheet } from '../sheet.ts';

/** A state exists only as a script for another system. */
export const foreignState = ruleAboutNames('foreign-state', 'foreign', (_, { sheet }) => hintForForeign(sheet));

/** What to do where a script is for another system. */
export function hintForForeign({ platform }: Sheet): string {
  const [here, there] = platform === 'unix' ? ['Unix', 'windows'] : ['Windows', 'unix'];
  return `Add the script for ${here}; if the workflow is not for ${here}, lint it with --platform ${there}.`;
}
