import { moveTo, type Transition } from './transition.ts';

/** `<compact>`: continues in the same conversation, which Claude Code summarizes before its next prompt. */
export const compact: Transition = {
  body: 'state',
  attributes: ['input', 'input-file'],
  required: [],
  variables: false,
  follow(at, target) {
    const { session } = at;
    return {
      kind: 'on',
      position: { ...moveTo(at, target), session: session === null ? null : { ...session, compact: true } },
      ...(session === null && { warning: `${at.state}: there is no conversation yet that <compact> could summarize` }),
    };
  },
};
