import { callFresh } from './function.ts';
import type { Transition } from './transition.ts';

/** `<function-workflow>`: a `<function>` into another workflow. Nothing binds it to the caller's folder, so it takes a `cd`. */
export const functionWorkflow: Transition = {
  ...callFresh,
  body: 'workflow',
  attributes: [...callFresh.attributes, 'cd'],
};
