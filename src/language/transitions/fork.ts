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
export const workerOf = (at: Position, target: TransitionTarget): Worker => ({
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
