import { adviseOnDenials } from '../core/run/denials.ts';
import type { Event } from '../core/run/event.ts';

/** Something odd that happened in a run, once for all agents and times. */
export interface RunWarning {
  readonly kind: 'denied' | 'session_lost' | 'warning';
  readonly state: string;
  readonly message: string;
  /** How often it happened, to how many agents, and when last. */
  readonly count: number;
  readonly agentCount: number;
  readonly lastAt: number;
}

/** The warnings of a run; `leftOut` counts those that were too many to be kept. */
export interface RunWarnings {
  readonly list: readonly RunWarning[];
  readonly leftOut: number;
}

/** More kinds of warnings are only counted: an agent may make up any number of commands. */
const MAX_KEPT = 200;

/** `agents` has those that may warn again, `formerAgents` counts the others. */
type Kept = Omit<RunWarning, 'agentCount'> & { readonly agents: Set<string>; readonly formerAgents: number };

/** Warnings as plain data. */
export interface WarningData {
  readonly kept: readonly (Omit<Kept, 'agents'> & { readonly agents: readonly string[] })[];
  readonly leftOut: number;
}

/** Collects the warnings of a run from its events: denied tools, lost conversations, and whatever was warned of. */
export class WarningCollector {
  private readonly kept = new Map<string, Kept>();
  private leftOut = 0;

  /** Adds what an event warns of. */
  observe(event: Event): void {
    if (event.kind === 'warning') this.add('warning', event, event.message);
    if (event.kind === 'session_lost') this.add('session_lost', event, describeLostSession(event.next));
    if (event.kind !== 'turn_ended') return;
    for (const denial of event.denials) {
      this.add('denied', event, `${denial} was not permitted; ${adviseOnDenials(event.state, [denial])}`);
    }
  }

  /** The warnings so far; those that happened most often come first. */
  get warnings(): RunWarnings {
    const list = Array.from(this.kept.values(), ({ agents, formerAgents, ...warning }) => {
      return { ...warning, agentCount: formerAgents + agents.size };
    });
    return { list: list.sort((a, b) => b.count - a.count), leftOut: this.leftOut };
  }

  /** Forgets the names of agents that are gone for good; they stay counted. */
  retainAgents(ids: ReadonlySet<string>): void {
    for (const [key, warning] of this.kept) {
      const agents = new Set([...warning.agents].filter((agent) => ids.has(agent)));
      const formerAgents = warning.formerAgents + warning.agents.size - agents.size;
      this.kept.set(key, { ...warning, agents, formerAgents });
    }
  }

  /** The warnings as plain data. */
  toData(): WarningData {
    const kept = Array.from(this.kept.values(), (warning) => ({ ...warning, agents: [...warning.agents] }));
    return { kept, leftOut: this.leftOut };
  }

  /** A collector that continues after these warnings. */
  static fromData({ kept, leftOut }: WarningData): WarningCollector {
    const collector = new WarningCollector();
    collector.leftOut = leftOut;
    for (const { agents, ...warning } of kept)
      collector.kept.set(keyOf(warning), { ...warning, agents: new Set(agents) });
    return collector;
  }

  private add(kind: RunWarning['kind'], event: Extract<Event, { agent: string }>, message: string): void {
    const { agent, state, at } = event;
    const key = keyOf({ kind, state, message });
    const before = this.kept.get(key);
    if (before === undefined && this.kept.size >= MAX_KEPT) {
      this.leftOut += 1;
      return;
    }
    const agents = before?.agents ?? new Set();
    agents.add(agent);
    const { count = 0, formerAgents = 0 } = before ?? {};
    this.kept.set(key, { kind, state, message, count: count + 1, agents, formerAgents, lastAt: at });
  }
}

const keyOf = ({ kind, state, message }: Pick<RunWarning, 'kind' | 'state' | 'message'>): string =>
  JSON.stringify([kind, state, message]);

const describeLostSession = (next: 'fork' | 'new'): string =>
  `a conversation could not be resumed: ${next === 'fork' ? 'it was forked' : 'a new one was begun, which remembers nothing'}`;

/** The warnings as lines, at most `max` of them. */
export function formatWarnings({ list, leftOut }: RunWarnings, max: number): readonly string[] {
  const rest = list.length - max + leftOut;
  const lines = list.slice(0, max).map(formatWarning);
  return rest > 0 ? [...lines, `warning: … and ${rest} more`] : lines;
}

function formatWarning({ state, message, count, agentCount }: RunWarning): string {
  const agents = agentCount > 1 ? ` by ${agentCount} agents` : '';
  const place = message.includes(state) ? '' : `${state}: `;
  return `warning: ${place}${message}${count > 1 ? ` (${count} times${agents})` : ''}`;
}
