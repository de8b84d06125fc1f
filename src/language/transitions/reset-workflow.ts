import { reset } from './reset.ts';
import type { Transition } from './transition.ts';

/** `<reset-workflow>`: leaves for another workflow, for good: callers get no result any more, unless `stack="keep"` keeps them. */
export const resetWorkflow: Transition = { ...reset, body: 'workflow', defaultStack: 'clear' };
