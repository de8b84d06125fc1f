import type { Event } from '../core/run/event.ts';
import { isPrompt } from '../language/state-names.ts';

interface AgentPosition {
  readonly state: string;
  readonly turn: number | null;
  readonly activity: string;
}

const MAX_LINES = 10;

/** Describes where the unfinished agents of a run stood when it was stopped, one line per agent. */
export function describeAgentPositions(events: readonly Event[]): readonly string[] {
  const agents = new Map<string, AgentPosition>();
  for (const event of events) {
    if (event.kind === 'run_stopping' && event.stop.kind === 'stopped') break;
    if (!('agent' in event) || isCausedByStop(event)) continue;
    const isOver = event.kind === 'agent_ended' || event.kind === 'agent_cancelled';
    const after = isOver ? undefined : positionAfter(event, agents.get(event.agent));
    if (after === undefined) agents.delete(event.agent);
    else agents.set(event.agent, after);
  }
  const lines = Array.from(agents, ([agent, { state, turn, activity }]) => {
    return `${agent} in ${state}${turn === null ? '' : `, turn ${turn}`}: ${activity}`;
  });
  const more = lines.length - MAX_LINES;
  return more > 0 ? [...lines.slice(0, MAX_LINES), `and ${more} more`] : lines;
}

/** Such events follow from the stop itself, so they do not tell where an agent stood before it. */
const isCausedByStop = (event: Event): boolean =>
  (event.kind === 'turn_ended' && (event.failure === 'stopped' || event.failure === 'interrupted')) ||
  (event.kind === 'agent_paused' && event.why === 'interrupted');

type AgentEvent = Extract<Event, { agent: string }>;

const WAITING = 'it waited for its turn';

const ACTIVITY_AFTER_EVENT: Readonly<Partial<Record<AgentEvent['kind'], string>>> = {
  agent_started: WAITING,
  turn_ended: WAITING,
  transition: WAITING,
  woken: WAITING,
  answer_withheld: 'its answer was withheld',
  visit_limit: 'it was kept out by max_visits',
  agent_paused: 'it was paused',
  agent_failed: 'it had failed',
  joining: 'it waited for its workers',
  joined: WAITING,
  cancelling: 'it was being cancelled',
};

function positionAfter(event: AgentEvent, before: AgentPosition | undefined): AgentPosition | undefined {
  const { state } = event;
  switch (event.kind) {
    case 'turn_started':
      return {
        state,
        turn: event.turn,
        activity: `${event.evaluator === null ? '' : `evaluated by ${event.evaluator}: `}${isPrompt(event.evaluator ?? state) ? 'its answer was being replayed' : 'its script was running'}`,
      };
    case 'sleeping': {
      const activity = event.why === 'retry' ? 'it waited to be tried again' : 'it waited for the end of a usage limit';
      return { state, turn: null, activity };
    }
    default: {
      const activity = ACTIVITY_AFTER_EVENT[event.kind];
      if (activity === undefined) return before;
      const hasMoved = event.kind === 'transition' || event.kind === 'joined';
      return { state: hasMoved ? (event.to ?? state) : state, turn: null, activity };
    }
  }
}
