import type { Agent } from '../core/run/agent.ts';
import type { Event } from '../core/run/event.ts';
import { sanitizeLine, sanitizeShortLine } from './sanitize.ts';
import { shorten } from './text-width.ts';

/** The width of the variable in a label: wider ones are cut. */
const MAX_VARIABLE_COLUMNS = 32;

/** The name of an agent in every view: its id, and for a worker its first variable, such as `main_work37 item=login`. */
export function formatAgentLabel({ id, variables }: Pick<Agent, 'id' | 'variables'>): string {
  const [first] = Object.entries(variables);
  if (first === undefined) return sanitizeLine(id);
  const variable = first.map((text) => sanitizeShortLine(text, MAX_VARIABLE_COLUMNS)).join('=');
  return `${sanitizeLine(id)} ${shorten(variable, MAX_VARIABLE_COLUMNS)}`;
}

/** Knows the labels of the agents of a run, from their starts. */
export class AgentLabels {
  /** Of the agents that have a variable. */
  private readonly labels = new Map<string, string>();

  constructor(agents: Iterable<Pick<Agent, 'id' | 'variables'>> = []) {
    this.add(agents);
  }

  /** Adds agents that were started earlier. */
  add(agents: Iterable<Pick<Agent, 'id' | 'variables'>>): void {
    for (const agent of agents)
      if (Object.keys(agent.variables).length > 0) this.labels.set(agent.id, formatAgentLabel(agent));
  }

  /** Adds the agent if this event is its start. */
  observe(event: Event): void {
    if (event.kind === 'agent_started') this.add([{ id: event.agent, variables: event.variables }]);
  }

  /** Forgets an agent that has ended: an endless run has any number of them. */
  forget(id: string): void {
    this.labels.delete(id);
  }

  /** The label of an agent. */
  readonly of = (id: string): string => this.labels.get(id) ?? sanitizeLine(id);
}
