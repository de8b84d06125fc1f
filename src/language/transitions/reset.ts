import { moveTo, type Transition } from './transition.ts';

/** `<reset>`: continues in a new conversation. Callers still get their result, unless `stack="clear"` drops them. */
export const reset: Transition = {
  body: 'state',
  attributes: ['cd', 'stack', 'input', 'input-file'],
  required: [],
  variables: false,
  taskWord: 'new',
  follow(at, target) {
    const abandoned = target.stack === 'clear' ? at.stack.length : 0;
    return {
      kind: 'on',
      position: {
        ...moveTo(at, target),
        session: null,
        cwd: target.cd ?? at.cwd,
        stack: abandoned > 0 ? [] : at.stack,
        // Without callers it is nested in nothing.
        nesting: target.stack === 'clear' ? 0 : at.nesting,
      },
      startsTask: target.takesTaskWord,
      ...(abandoned > 0 && { warning: abandonedWarning(at.state, abandoned) }),
    };
  },
};

const abandonedWarning = (state: string, callers: number): string =>
  `${state} cleared the return stack: ${callers} ${callers === 1 ? 'caller' : 'callers'} will never get a result`;

/** `<reset-workflow>`: leaves for another workflow, for good: callers get no result any more, unless `stack="keep"` keeps them. */
export const resetWorkflow: Transition = { ...reset, body: 'workflow', defaultStack: 'clear' };
