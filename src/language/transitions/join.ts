import { readJoinTerms } from '../tags/join-terms.ts';
import { moveTo, type Transition } from './transition.ts';

/** `<join>`: continues in the same conversation once the agent's workers are done, with their results. */
export const join: Transition = {
  body: 'state',
  attributes: ['wait', 'timeout', 'timeout_next', 'cancel', 'group', 'input', 'input-file'],
  required: [],
  variables: false,
  part: 'continuation',
  findProblem({ attributes }) {
    const terms = readJoinTerms(attributes, null);
    return typeof terms === 'string' ? terms : undefined;
  },
  follow(at, target) {
    return { kind: 'on', position: moveTo(at, target), ...(target.join !== null && { join: target.join }) };
  },
};
