import type { Agent } from '../agent.ts';
import { indexOfAgent } from '../agent-index.ts';
import { isSettled } from '../done-phase.ts';
import { isLeaving } from '../end-agent.ts';
import type { Event, Step } from '../event.ts';
import { type Run, withAgent } from '../run.ts';
import { deliveredEvent, findHearingTurn } from '../say.ts';
import type { HeardSignal, SaidSignal } from '../signal.ts';

/** Keeps what a person says to an agent: for its running turn if that can be reached, else for its next prompt. */
export function handleSaid(run: Run, { at, about, said: id, text, by, saidAt, isReachable }: SaidSignal): Step {
  const agent = run.agents[indexOfAgent(run.agents, about.agent)];
  if (agent?.said.some((each) => each.id === id)) return { run, events: [] };
  const refused = explainDeafness(about.agent, agent);
  const turn = agent === undefined || refused !== null || !isReachable ? null : findHearingTurn(agent);
  const { state = '' } = agent ?? {};
  const event: Event = { kind: 'said', at, agent: about.agent, state, said: id, text, by, saidAt, turn, refused };
  if (agent === undefined || refused !== null) return { run, events: [event] };
  const said = [...agent.said, { id, text, by, saidAt, turn, heard: false }];
  return { run: withAgent(run, { ...agent, said }), events: [event] };
}

/** Notes that a running turn has got what was said. */
export function handleHeard(run: Run, { at, about, said: id }: HeardSignal): Step {
  const agent = run.agents[indexOfAgent(run.agents, about.agent)];
  const found = agent?.said.find((each) => each.id === id);
  if (agent === undefined || found === undefined || found.turn === null || found.heard) return { run, events: [] };
  const said = agent.said.map((each) => (each === found ? { ...each, heard: true } : each));
  return {
    run: withAgent(run, { ...agent, said }),
    events: [deliveredEvent(agent, id, found.turn, 'turn', at)],
  };
}

/** Why nothing can be said to an agent any more; null if something can. */
export function explainDeafness(id: string, agent: Agent | undefined): string | null {
  if (agent === undefined) return `there is no agent ${id}`;
  const { phase } = agent;
  const isCancelled = phase.kind === 'cancelling' || phase.kind === 'cancelled';
  return isSettled(agent) || isLeaving(agent) || isCancelled ? `${id} has ended` : null;
}
