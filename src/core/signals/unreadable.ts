import type { Step } from '../event.ts';
import { getAgent, type Run, withAgent } from '../run.ts';
import type { Unreadable } from '../signal.ts';
import { refuseAtIterationLimit } from './began.ts';

/**
 * Pauses an agent whose state cannot be read: once the file is corrected, a resume goes on from here. If the limit of
 * iterations is reached, that is reported instead.
 */
export function handleUnreadable(run: Run, { agent: id, at, message }: Unreadable): Step {
  const agent = getAgent(run, id);
  if (agent.phase.kind !== 'ready') throw new Error(`${id} is ${agent.phase.kind}: it does not read its state`);
  const refusal = agent.rules === null && run.stop === null ? refuseAtIterationLimit(run, agent, at) : undefined;
  if (refusal !== undefined) return refusal;
  const phase = { kind: 'paused', why: 'unreadable', message, prompt: agent.phase.prompt } as const;
  return {
    run: withAgent(run, { ...agent, phase }),
    events: [{ kind: 'agent_paused', at, agent: id, state: agent.state, why: 'unreadable', message }],
  };
}
