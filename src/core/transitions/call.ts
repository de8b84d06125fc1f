import type { Position, Session } from '../position.ts';
import type { Go, Move, Transition } from './transition.ts';

/** `<call>`: do a subtask that knows what the caller knows; only its result comes back. */
export const call: Transition = {
  body: 'state',
  attributes: ['return', 'input', 'model', 'effort'],
  required: ['return'],
  variables: false,
  follow: (at, go) => enter(at, go, branchOf(at.session)),
};

/** Go into a callee with this session, leaving a frame for its result. */
export function enter(at: Position, go: Go, session: Session | null): Move {
  const frame = {
    state: go.return ?? at.state,
    session: at.session,
    cwd: at.cwd,
    model: at.model,
    effort: at.effort,
  };
  return {
    kind: 'on',
    position: {
      state: go.body,
      input: go.input,
      session,
      stack: [...at.stack, frame],
      cwd: at.cwd,
      model: go.model ?? at.model,
      effort: go.effort ?? at.effort,
    },
  };
}

/** A branch of a branch that nobody has used yet is one more branch of the same conversation. */
function branchOf(session: Session | null): Session | null {
  return session?.kind === 'open' ? { kind: 'branch', of: session.id } : session;
}
