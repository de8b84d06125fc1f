import type { AgentStatus } from '../../../core/run/observed-status.ts';
import { isPrompt } from '../../../language/state-names.ts';
import type { Listeners } from './talk-panel.ts';
import type { LiveView } from './view.ts';

/** Agents that do not continue by themselves: they would hear only after a resume. */
const AT_REST: ReadonlySet<AgentStatus> = new Set(['failed', 'limited', 'paused', 'withheld', 'cancelling']);

/** The agents of a run with which a person can talk now; none while it stops. */
export function listListeners({ agents, stop }: LiveView): Listeners {
  const all = stop === null ? [...agents.values()] : [];
  return {
    answer: all.filter(({ question }) => question !== null),
    say: all.filter(({ phase }) => !AT_REST.has(phase)),
    interrupt: all.filter(
      ({ phase, evaluator, state }) =>
        (phase === 'running' || phase === 'queued') && evaluator === null && isPrompt(state),
    ),
  };
}
