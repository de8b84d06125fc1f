import { isDraining } from '../answers/end-agent.ts';
import { type Agent, isSettled, recordedTurn } from '../run/agent.ts';
import { indexOfAgent } from '../run/agent-index.ts';
import type { Event, Step } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { deliveredEvent, findHearingTurn } from '../run/say.ts';
import { whyNotInterruptible } from '../turns/interruption.ts';
import type { DeliveredSignal, InterruptSignal, SaidSignal } from './signal.ts';

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

/** Marks the running turn of an agent as interrupted: whatever comes of it, the agent continues as the person says. */
export function handleInterruptSignal(run: Run, { at, about, interrupt: id, text, by, saidAt }: InterruptSignal): Step {
  const agent = run.agents[indexOfAgent(run.agents, about.agent)];
  if (agent?.interruption?.id === id) return { run, events: [] };
  const deafness = whyUnreachable(about.agent, agent);
  const refused = agent === undefined ? deafness : (deafness ?? whyNotInterruptible(run, agent, text));
  const turn = agent === undefined || refused !== null ? null : (recordedTurn(agent.phase)?.number ?? null);
  const words = { text, by, saidAt };
  const { state = '' } = agent ?? {};
  const event: Event = {
    kind: 'turn_interrupted',
    at,
    agent: about.agent,
    state,
    interrupt: id,
    ...words,
    turn,
    refused,
  };
  if (agent === undefined || turn === null) return { run, events: [event] };
  return { run: withAgent(run, { ...agent, interruption: { id, turn, ...words } }), events: [event] };
}
