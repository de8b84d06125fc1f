import { call, enterCallee } from './call.ts';
import type { Transition } from './transition.ts';

/** `<function>`: a call in a new conversation, which knows nothing but its own prompt. */
export const callFresh: Transition = { ...call, follow: (at, target) => enterCallee(at, target, null) };
