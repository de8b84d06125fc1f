import type { Step } from '../run/event.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import { refuseAtIterationLimit } from './began.ts';
import type { Unreadable } from './signal.ts';

/**
 * Pauses an agent whose state cannot be read, or whose turn would use changed code: a resume continues from here once the file
 * is corrected or the change accepted. If the limit of iterations is reached, that is reported instead.
 */
export function handleUnreadable(run: Run, { agent: id, at, message, changed }: Unreadable): Step {
  const agent = getAgent(run, id);
  if (agent.phase.kind !== 'ready') throw new Error(`${id} is ${agent.phase.kind}: it does not read its state`);
  const refusal = agent.rules === null && run.stop === null ? refuseAtIterationLimit(run, agent, at) : undefined;
  if (refusal !== undefined) return refusal;
  const why = changed === undefined ? 'unreadable' : 'changed_code';
  const phase = { kind: 'paused', why, message, prompt: agent.phase.prompt, ...(changed && { changed }) } as const;
  return {
    run: withAgent(run, { ...agent, phase }),
    events: [{ kind: 'agent_paused', at, agent: id, state: agent.state, why, message }],
  };
}
