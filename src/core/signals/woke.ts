import type { Step } from '../event.ts';
import { getAgent, type Run, withAgent } from '../run.ts';
import type { Woke } from '../signal.ts';

/** Lets an agent try again. A hold that has passed is lifted for all agents. */
export function handleWoke(run: Run, { agent: id, at }: Woke): Step {
  const agent = getAgent(run, id);
  if (agent.phase.kind !== 'sleeping') throw new Error(`${id} is ${agent.phase.kind}: it cannot wake`);
  const { prompt, untilMs } = agent.phase;
  const hold = run.hold !== null && run.hold.untilMs <= Math.max(at, untilMs) ? null : run.hold;
  return {
    run: withAgent({ ...run, hold }, { ...agent, phase: { kind: 'ready', prompt, since: run.seq } }),
    events: [{ kind: 'woken', at, agent: id, state: agent.state }],
  };
}
