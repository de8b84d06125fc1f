import { fork } from './fork.ts';
import type { Transition } from './transition.ts';

/** `<fork-workflow>`: a `<fork>` whose worker starts in another workflow. */
export const forkWorkflow: Transition = { ...fork, body: 'workflow' };
