import type { Event } from '../core/event.ts';
import { isPrompt } from '../core/names.ts';

interface Whereabouts {
  readonly state: string;
  readonly turn: number | null;
  readonly doing: string;
}

/** More would not be read. */
const MOST_TOLD = 10;

/** Where the agents of a run stood when it was ended from outside, a line for each that had not come to its end. */
export function whereaboutsOf(events: readonly Event[]): readonly string[] {
  const agents = new Map<string, Whereabouts>();
  for (const event of events) {
    if (event.kind === 'run_stopping' && event.stop.kind === 'stopped') break;
    if (!('agent' in event) || isAftermath(event)) continue;
    const after = event.kind === 'agent_ended' ? undefined : whereaboutsAfter(event, agents.get(event.agent));
    if (after === undefined) agents.delete(event.agent);
    else agents.set(event.agent, after);
  }
  const lines = Array.from(agents, ([agent, { state, turn, doing }]) => {
    return `${agent} in ${state}${turn === null ? '' : `, turn ${turn}`}: ${doing}`;
  });
  const more = lines.length - MOST_TOLD;
  return more > 0 ? [...lines.slice(0, MOST_TOLD), `and ${more} more`] : lines;
}

/** What became of a turn because the run was ended says nothing about where it stood. */
const isAftermath = (event: Event): boolean =>
  (event.kind === 'turn_ended' && (event.failure === 'stopped' || event.failure === 'interrupted')) ||
  (event.kind === 'agent_paused' && event.why === 'interrupted');

type OfAgent = Extract<Event, { agent: string }>;

const WAITS = 'it waited for its turn';

const DOING: Readonly<Partial<Record<OfAgent['kind'], string>>> = {
  agent_started: WAITS,
  turn_ended: WAITS,
  transition: WAITS,
  woken: WAITS,
  answer_withheld: 'its answer was withheld',
  visit_limit: 'it was kept out by max_visits',
  agent_paused: 'it was paused',
  agent_failed: 'it had failed',
};

function whereaboutsAfter(event: OfAgent, before: Whereabouts | undefined): Whereabouts | undefined {
  const { state } = event;
  switch (event.kind) {
    case 'turn_started':
      return { state, turn: event.turn, doing: isPrompt(state) ? 'its answer was played' : 'its script was running' };
    case 'sleeping': {
      const doing = event.why === 'retry' ? 'it waited to be tried again' : 'it waited for the end of a usage limit';
      return { state, turn: null, doing };
    }
    default: {
      const doing = DOING[event.kind];
      if (doing === undefined) return before;
      return { state: event.kind === 'transition' ? (event.to ?? state) : state, turn: null, doing };
    }
  }
}
