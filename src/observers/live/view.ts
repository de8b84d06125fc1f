import type { Activity, Doing } from '../../core/activity.ts';
import type { Phase } from '../../core/agent.ts';
import type { Event, RunResumed, RunStarted } from '../../core/event.ts';
import type { Stop } from '../../core/run.ts';
import { NEVER_WORKED, type Worked, workedAfter } from '../worked.ts';

/** An agent as the live view shows it. */
export interface AgentView {
  readonly id: string;
  readonly state: string;
  readonly phase: Phase['kind'];
  /** When its turn began, and the last that was seen of it; null outside of turns. */
  readonly since: number | null;
  readonly doing: Doing | null;
  /** What it waits for while it sleeps. */
  readonly wait: { readonly why: 'retry' | 'usage_limit'; readonly untilMs: number; readonly message: string } | null;
  readonly costMicros: number;
}

/** A run as the live view shows it: all that is known of it from its events and activities. */
export interface View {
  /** What the title calls it; empty before the run has begun. */
  readonly name: string;
  readonly run: string;
  readonly worked: Worked;
  readonly budgetMicros: number | null;
  readonly spentMicros: number;
  /** In the order of their birth. Those that ended with a result are only counted. */
  readonly agents: ReadonlyMap<string, AgentView>;
  readonly ended: number;
  readonly stop: Stop | null;
  /** How often the user has pressed Ctrl-C. */
  readonly interrupts: number;
}

export const EMPTY_VIEW: View = {
  name: '',
  run: '',
  worked: NEVER_WORKED,
  budgetMicros: null,
  spentMicros: 0,
  agents: new Map(),
  ended: 0,
  stop: null,
  interrupts: 0,
};

/** The view once all this has happened, in order. */
export function viewAfter(view: View, events: Iterable<Event>): View {
  const agents = new Map(view.agents);
  let next = view;
  for (const event of events) {
    next = runAfter({ ...next, worked: workedAfter(next.worked, event) }, event);
    if (event.kind === 'agent_ended') agents.delete(event.agent);
    else if ('agent' in event && !UNSEEN.has(event.kind)) {
      agents.set(event.agent, agentAfter(agents.get(event.agent) ?? newcomer(event), event));
    }
  }
  return { ...next, agents };
}

/** The view once all this was seen, in order. What belongs to a turn that is over comes too late. */
export function viewSeeing(view: View, activities: Iterable<Activity>): View {
  const agents = new Map(view.agents);
  for (const { agent: id, at, doing } of activities) {
    const agent = agents.get(id);
    if (agent?.phase === 'running' && at >= (agent.since ?? 0)) agents.set(id, { ...agent, doing });
  }
  return { ...view, agents };
}

function runAfter(view: View, event: Event): View {
  switch (event.kind) {
    case 'run_started':
      return { ...begun(view, event), name: event.name, run: event.run };
    case 'run_resumed':
      return begun(view, event);
    case 'run_stopping':
      return { ...view, stop: event.stop };
    case 'turn_ended':
    case 'run_ended':
      return { ...view, spentMicros: event.spentMicros };
    case 'agent_ended':
      return { ...view, ended: view.ended + 1 };
    default:
      return view;
  }
}

const begun = (view: View, { options }: RunStarted | RunResumed): View => ({
  ...view,
  budgetMicros: options.budgetMicros,
  stop: null,
});

type OfAgent = Extract<Event, { readonly agent: string }>;

/** These change nothing that is shown of an agent, and may come when it is long gone. */
const UNSEEN: ReadonlySet<Event['kind']> = new Set(['warning', 'reminded', 'session_lost']);

const PHASES: Partial<Record<Event['kind'], Phase['kind']>> = {
  woken: 'ready',
  agent_resumed: 'ready',
  answer_withheld: 'withheld',
  visit_limit: 'limited',
  agent_paused: 'paused',
  agent_failed: 'failed',
};

const newcomer = ({ agent: id, state }: OfAgent): AgentView => {
  return { id, state, phase: 'ready', since: null, doing: null, wait: null, costMicros: 0 };
};

const AT_REST = { since: null, doing: null, wait: null };

function agentAfter(agent: AgentView, event: OfAgent): AgentView {
  switch (event.kind) {
    case 'turn_started':
      return { ...agent, ...AT_REST, state: event.state, phase: 'running', since: event.at };
    case 'turn_ended':
      return { ...agent, ...AT_REST, phase: 'ready', costMicros: agent.costMicros + event.costMicros };
    case 'transition':
      return { ...agent, ...AT_REST, phase: 'ready', state: event.to ?? event.state };
    case 'sleeping': {
      const { why, untilMs, message } = event;
      return { ...agent, ...AT_REST, phase: 'sleeping', wait: { why, untilMs, message } };
    }
    default:
      return { ...agent, ...AT_REST, phase: PHASES[event.kind] ?? agent.phase };
  }
}
