import { call } from './call.ts';
import type { Transition } from './transition.ts';

/** `<call-workflow>`: a `<call>` into another workflow; its result comes back into this one. */
export const callWorkflow: Transition = { ...call, body: 'workflow' };
