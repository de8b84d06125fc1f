import type { Position } from '../position.ts';
import { nestingOf } from './call.ts';
import type { Transition, TransitionTarget, Worker } from './transition.ts';

/** `<fork>`: starts an independent worker and continues at `next` in the same conversation. */
export const fork: Transition = {
  body: 'state',
  attributes: ['next', 'cd', 'input', 'input-file', 'model', 'effort'],
  required: ['next'],
  variables: true,
  part: 'workers',
  taskWord: 'inherit',
  follow: (at, target) => ({
    kind: 'on',
    position: { ...at, state: target.next ?? at.state, input: null },
    workers: [workerOf(at, target)],
  }),
};

/** The worker that a tag starts in another state, which is its body. */
const workerOf = (at: Position, target: TransitionTarget): Worker => ({
  state: target.body,
  input: target.input,
  cwd: target.cd ?? at.cwd,
  model: target.model,
  effort: target.effort,
  inheritsTask: target.takesTaskWord,
  takesWorktree: target.takesWorktree,
  variables: target.variables,
  nesting: nestingOf(at, target),
  workflow: target.workflow,
});

/** `<fork-workflow>`: a `<fork>` whose worker starts in another workflow. */
export const forkWorkflow: Transition = { ...fork, body: 'workflow' };

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
