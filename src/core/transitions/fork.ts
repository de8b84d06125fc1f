import type { Transition } from './transition.ts';

/** `<fork>`: start an independent worker and go on at `next` in the same conversation. */
export const fork: Transition = {
  body: 'state',
  attributes: ['next', 'cd', 'input', 'model', 'effort'],
  required: ['next'],
  variables: true,
  follow: (at, go) => ({
    kind: 'on',
    position: { ...at, state: go.next ?? at.state, input: null },
    worker: {
      state: go.body,
      input: go.input,
      cwd: go.cd ?? at.cwd,
      model: go.model,
      effort: go.effort,
      variables: go.variables,
    },
  }),
};
