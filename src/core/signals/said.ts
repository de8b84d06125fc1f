import { isDraining } from '../answers/end-agent.ts';
import type { Agent } from '../run/agent.ts';
import { indexOfAgent } from '../run/agent-index.ts';
import { isSettled } from '../run/done-phase.ts';
import type { Event, Step } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { deliveredEvent, findHearingTurn } from '../run/say.ts';
import type { DeliveredSignal, SaidSignal } from './signal.ts';

/** Keeps what a person says to an agent: for its running turn if that can be reached, else for its next prompt. */
export function handleSaid(run: Run, { at, about, said: id, text, by, saidAt, isReachable }: SaidSignal): Step {
  const agent = run.agents[indexOfAgent(run.agents, about.agent)];
  if (agent?.messages.some((each) => each.id === id)) return { run, events: [] };
  const refused = whyUnreachable(about.agent, agent);
  const turn = agent === undefined || refused !== null || !isReachable ? null : findHearingTurn(agent);
  const { state = '' } = agent ?? {};
  const event: Event = { kind: 'said', at, agent: about.agent, state, said: id, text, by, saidAt, turn, refused };
  if (agent === undefined || refused !== null) return { run, events: [event] };
  const messages = [...agent.messages, { id, text, by, saidAt, turn, delivered: false }];
  return { run: withAgent(run, { ...agent, messages }), events: [event] };
}

/** Notes that a running turn has got what was said. */
export function handleHeard(run: Run, { at, about, said: id }: DeliveredSignal): Step {
  const agent = run.agents[indexOfAgent(run.agents, about.agent)];
  const found = agent?.messages.find((each) => each.id === id);
  if (agent === undefined || found === undefined || found.turn === null || found.delivered) return { run, events: [] };
  const messages = agent.messages.map((each) => (each === found ? { ...each, delivered: true } : each));
  return {
    run: withAgent(run, { ...agent, messages }),
    events: [deliveredEvent(agent, id, found.turn, 'turn', at)],
  };
}

/** Why nothing can be said to an agent any more; null if something can. */
export function whyUnreachable(id: string, agent: Agent | undefined): string | null {
  if (agent === undefined) return `there is no agent ${id}`;
  const { phase } = agent;
  const isCancelled = phase.kind === 'cancelling' || phase.kind === 'cancelled';
  return isSettled(agent) || isDraining(agent) || isCancelled ? `${id} has ended` : null;
}
