import type { Phase } from '../../core/agent.ts';
import { isPrompt } from '../../core/state-names.ts';
import type { Listeners } from './talk-panel.ts';
import type { LiveView } from './view.ts';

/** Agents that do not go on by themselves: they would hear only after a resume. */
const AT_REST: ReadonlySet<Phase['kind']> = new Set(['failed', 'limited', 'paused', 'withheld', 'cancelling']);

/** The agents of a run with which a person can talk now; none while it stops. */
export function listListeners({ agents, stop }: LiveView): Listeners {
  const all = stop === null ? [...agents.values()] : [];
  return {
    answer: all.filter(({ question }) => question !== null),
    say: all.filter(({ phase }) => !AT_REST.has(phase)),
    interrupt: all.filter(
      ({ phase, evaluator, state }) => phase === 'running' && evaluator === null && isPrompt(state),
    ),
  };
}
