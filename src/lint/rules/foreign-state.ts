import type { WorkflowSource } from '../../graph/workflow-source.ts';
import { isPrompt, stem } from '../../language/state-names.ts';
import { defineNameRule } from '../unresolved-names.ts';

/** A state exists only as a script for another system, or is named as if it did. */
export const foreignState = defineNameRule(
  { id: 'foreign-state', reason: 'foreign' },
  (name, { names }, { workflow }) => {
    const here = names.resolve(stem(name));
    return here.kind === 'found' && !isPrompt(here.file)
      ? `Write ${stem(name)}: then each system runs its own script.`
      : hintForForeign(workflow);
  },
);

/** Says what to do about a script for another system. */
export function hintForForeign({ platform }: WorkflowSource): string {
  const [here, there] = platform === 'unix' ? ['Unix', 'windows'] : ['Windows', 'unix'];
  return `Add the script for ${here}; if the workflow is not for ${here}, lint it with --platform ${there}.`;
}
