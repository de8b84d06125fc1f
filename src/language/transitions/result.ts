import { newCallVisits } from '../position.ts';
import type { Transition } from './transition.ts';

/** `<result>`: returns a result to the caller, or ends the agent if there is none. */
export const result: Transition = {
  body: 'text',
  attributes: [],
  required: [],
  variables: false,
  follow(at, target) {
    const caller = at.stack.at(-1);
    if (caller === undefined) return { kind: 'end', result: target.body };
    const { callVisits = newCallVisits(at.callVisits), ...frame } = caller;
    return { kind: 'on', position: { ...frame, callVisits, input: target.body, stack: at.stack.slice(0, -1) } };
  },
};
