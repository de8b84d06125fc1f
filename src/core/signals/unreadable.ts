import type { Step } from '../event.ts';
import { agentOf, type Run, withAgent } from '../run.ts';
import type { Unreadable } from '../signal.ts';

/** Pauses an agent whose state cannot be read: once the file is mended, a resume goes on from here. */
export function unreadable(run: Run, { agent: id, at, message }: Unreadable): Step {
  const agent = agentOf(run, id);
  const phase = { kind: 'paused', why: 'unreadable', message, prompt: { kind: 'state' } } as const;
  return {
    run: withAgent(run, { ...agent, phase }),
    events: [{ kind: 'agent_paused', at, agent: id, state: agent.state, why: 'unreadable', message }],
  };
}
