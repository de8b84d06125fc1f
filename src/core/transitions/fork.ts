import type { Transition } from './transition.ts';

/** `<fork>`: starts an independent worker and goes on at `next` in the same conversation. */
export const fork: Transition = {
  body: 'state',
  attributes: ['next', 'cd', 'input', 'input-file', 'model', 'effort'],
  required: ['next'],
  variables: true,
  taskWord: 'inherit',
  follow: (at, target) => ({
    kind: 'on',
    position: { ...at, state: target.next ?? at.state, input: null },
    worker: {
      state: target.body,
      input: target.input,
      cwd: target.cd ?? at.cwd,
      model: target.model,
      effort: target.effort,
      inheritsTask: target.takesTaskWord,
      variables: target.variables,
    },
  }),
};
