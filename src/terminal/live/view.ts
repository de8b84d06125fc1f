import type { Activity, Doing } from '../../core/activity.ts';
import type { Phase } from '../../core/agent.ts';
import type { Event, RunResumed, RunStarted } from '../../core/event.ts';
import type { StopReason } from '../../core/run.ts';
import { NO_WORK_TIME, updateWorkTime, type WorkTime } from '../../events/work-time.ts';

/** An agent as the live view shows it. */
export interface AgentView {
  readonly id: string;
  readonly state: string;
  readonly phase: Phase['kind'];
  /** When its turn started, and its latest activity; null between turns. */
  readonly since: number | null;
  readonly doing: Doing | null;
  /** What it waits for while it sleeps; null otherwise. */
  readonly wait: { readonly why: 'retry' | 'usage_limit'; readonly untilMs: number; readonly message: string } | null;
  readonly costMicros: number;
}

/** A run as the live view shows it, built from its events and activities. */
export interface LiveView {
  /** Its name in the title; empty before the run has started. */
  readonly name: string;
  readonly run: string;
  readonly worked: WorkTime;
  readonly budgetMicros: number | null;
  readonly spentMicros: number;
  /** In the order of their start, without those that ended with a result, which are only counted. */
  readonly agents: ReadonlyMap<string, AgentView>;
  readonly ended: number;
  readonly stop: StopReason | null;
  /** How often the user has pressed Ctrl-C. */
  readonly interrupts: number;
}

/** The view before the first event. */
export const EMPTY_VIEW: LiveView = {
  name: '',
  run: '',
  worked: NO_WORK_TIME,
  budgetMicros: null,
  spentMicros: 0,
  agents: new Map(),
  ended: 0,
  stop: null,
  interrupts: 0,
};

/** The view after these events, in order. */
export function applyEvents(view: LiveView, events: Iterable<Event>): LiveView {
  const agents = new Map(view.agents);
  let next = view;
  for (const event of events) {
    next = applyRunEvent({ ...next, worked: updateWorkTime(next.worked, event) }, event);
    if (event.kind === 'agent_ended') agents.delete(event.agent);
    else if ('agent' in event && !IGNORED_KINDS.has(event.kind)) {
      agents.set(event.agent, applyAgentEvent(agents.get(event.agent) ?? createAgentView(event), event));
    }
  }
  return { ...next, agents };
}

/** The view after these activities, in order. Those of a turn that is over come too late and are ignored. */
export function applyActivities(view: LiveView, activities: Iterable<Activity>): LiveView {
  const agents = new Map(view.agents);
  for (const { agent: id, at, doing } of activities) {
    const agent = agents.get(id);
    if (agent?.phase === 'running' && at >= (agent.since ?? 0)) agents.set(id, { ...agent, doing });
  }
  return { ...view, agents };
}

function applyRunEvent(view: LiveView, event: Event): LiveView {
  switch (event.kind) {
    case 'run_started':
      return { ...applyRunStart(view, event), name: event.name, run: event.run };
    case 'run_resumed':
      return applyRunStart(view, event);
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

const applyRunStart = (view: LiveView, { options }: RunStarted | RunResumed): LiveView => ({
  ...view,
  budgetMicros: options.budgetMicros,
  stop: null,
});

type AgentEvent = Extract<Event, { readonly agent: string }>;

/** The events that change nothing that is shown of an agent, and may come when it has ended. */
const IGNORED_KINDS: ReadonlySet<Event['kind']> = new Set(['warning', 'reminded', 'session_lost']);

const PHASES_BY_EVENT: Partial<Record<Event['kind'], Phase['kind']>> = {
  woken: 'ready',
  agent_resumed: 'ready',
  answer_withheld: 'withheld',
  visit_limit: 'limited',
  agent_paused: 'paused',
  agent_failed: 'failed',
};

const createAgentView = ({ agent: id, state }: AgentEvent): AgentView => {
  return { id, state, phase: 'ready', since: null, doing: null, wait: null, costMicros: 0 };
};

const IDLE = { since: null, doing: null, wait: null };

function applyAgentEvent(agent: AgentView, event: AgentEvent): AgentView {
  switch (event.kind) {
    case 'turn_started':
      return { ...agent, ...IDLE, state: event.state, phase: 'running', since: event.at };
    case 'turn_ended':
      return { ...agent, ...IDLE, phase: 'ready', costMicros: agent.costMicros + event.costMicros };
    case 'transition':
      return { ...agent, ...IDLE, phase: 'ready', state: event.to ?? event.state };
    case 'sleeping': {
      const { why, untilMs, message } = event;
      return { ...agent, ...IDLE, phase: 'sleeping', wait: { why, untilMs, message } };
    }
    default:
      return { ...agent, ...IDLE, phase: PHASES_BY_EVENT[event.kind] ?? agent.phase };
  }
}
