import { modelOf, newCallVisits, type Position, type Session } from '../position.ts';
import type { Transition, TransitionResult, TransitionTarget } from './transition.ts';

/** `<call>`: runs a subtask in a branch of the conversation; only its result comes back. */
export const call: Transition = {
  body: 'state',
  attributes: ['return', 'input', 'input-file', 'model', 'effort'],
  required: ['return'],
  variables: false,
  follow: (at, target) => enterCallee(at, target, branchOf(at.session)),
};

/** Enters a callee with this session and pushes a frame for its result. */
function enterCallee(at: Position, target: TransitionTarget, session: Session | null): TransitionResult {
  const frame = {
    state: target.return ?? at.state,
    session: at.session,
    cwd: at.cwd,
    task: at.task,
    model: at.model,
    effort: at.effort,
    ...(Object.keys(at.callVisits).length > 0 && { callVisits: at.callVisits }),
    nesting: at.nesting,
  };
  return {
    kind: 'on',
    position: {
      state: target.body,
      input: target.input,
      session,
      stack: [...at.stack, frame],
      cwd: target.cd ?? at.cwd,
      task: at.task,
      nesting: nestingOf(at, target),
      model: target.model ?? at.model,
      effort: target.effort ?? at.effort,
      callVisits: newCallVisits(at.callVisits),
    },
  };
}

/** How deep the workflow of a target is nested in others. */
export const nestingOf = ({ nesting }: Position, { workflow }: TransitionTarget): number =>
  workflow === null ? nesting : nesting + 1;

/** The branch of an unused branch is another branch of the same conversation. */
function branchOf(session: Session | null): Session | null {
  return session?.kind === 'open'
    ? { kind: 'branch', of: session.id, ...(session.compact && { compact: true }), ...modelOf(session) }
    : session;
}

/** `<call-workflow>`: a `<call>` into another workflow; its result comes back into this one. */
export const callWorkflow: Transition = { ...call, body: 'workflow' };

/** `<function>`: a call in a new conversation, which knows nothing but its own prompt. */
export const callFresh: Transition = { ...call, follow: (at, target) => enterCallee(at, target, null) };

/** `<function-workflow>`: a `<function>` into another workflow. Nothing binds it to the caller's folder, so it takes a `cd`. */
export const functionWorkflow: Transition = {
  ...callFresh,
  body: 'workflow',
  attributes: [...callFresh.attributes, 'cd'],
};
