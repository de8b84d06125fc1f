import { timeOutJoin } from '../joins/join.ts';
import type { Step } from '../run/event.ts';
import { getAgent, type Run, withAgent } from '../run/run.ts';
import type { Woke } from './signal.ts';

/** Lets an agent try again, or gives up its join. A hold that has passed is lifted for all agents. */
export function handleWoke(run: Run, { agent: id, at }: Woke): Step {
  const agent = getAgent(run, id);
  if (agent.phase.kind === 'joining') return timeOutJoin(run, agent, at);
  // Its time may have been over just when there was nothing left to wait for.
  if (agent.phase.kind === 'ready') return { run, events: [] };
  if (agent.phase.kind !== 'sleeping') throw new Error(`${id} is ${agent.phase.kind}: it cannot wake`);
  const { prompt, untilMs } = agent.phase;
  const hold = run.hold !== null && run.hold.untilMs <= Math.max(at, untilMs) ? null : run.hold;
  return {
    run: withAgent({ ...run, hold }, { ...agent, phase: { kind: 'ready', prompt, since: run.seq } }),
    events: [{ kind: 'woken', at, agent: id, state: agent.state }],
  };
}
