import { fork, workerOf } from './fork.ts';
import type { Transition } from './transition.ts';

/** `<fork-each>`: starts a worker for each item of a file; otherwise it is a fork. */
export const forkEach: Transition = {
  ...fork,
  attributes: [...fork.attributes, 'in', 'as'],
  required: [...fork.required, 'in'],
  follow(at, target) {
    const items = target.items ?? [];
    const shared = workerOf(at, target);
    const workers = items.map(({ variables, input }) => ({
      ...shared,
      input: input ?? shared.input,
      // A view shows a worker with its first variable, which is to be its item.
      variables: { ...variables, ...shared.variables },
    }));
    return {
      kind: 'on',
      position: { ...at, state: target.next ?? at.state, input: null },
      workers,
      ...(items.length === 0 && { warning: `${at.state} found no items for <fork-each>: no worker is started` }),
    };
  },
};
