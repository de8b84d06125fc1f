import { moveTo, type Transition } from './transition.ts';

/** `<goto>`: continues in the same conversation. */
export const goto: Transition = {
  body: 'state',
  attributes: ['input', 'input-file'],
  required: [],
  variables: false,
  part: 'continuation',
  follow: (at, target) => ({ kind: 'on', position: moveTo(at, target) }),
};
