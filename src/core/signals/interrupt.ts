import { recordedTurn } from '../run/agent.ts';
import { indexOfAgent } from '../run/agent-index.ts';
import type { Event, Step } from '../run/event.ts';
import { type Run, withAgent } from '../run/run.ts';
import { whyNotInterruptible } from '../turns/interruption.ts';
import { whyUnreachable } from './said.ts';
import type { InterruptSignal } from './signal.ts';

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
