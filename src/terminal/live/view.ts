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
    if ('agent' in event) applyAgentEvent(agents, event);
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

/** What an event changes of an agent that is shown. */
type AgentChange<Kind extends AgentEvent['kind']> = (
  event: Extract<AgentEvent, { kind: Kind }>,
  agent: AgentView,
) => Partial<AgentView>;

const IDLE = { since: null, doing: null, wait: null };

const becomes = (phase: Phase['kind']) => (): Partial<AgentView> => ({ ...IDLE, phase });

/** The changes by kind of event; null for those that change nothing that is shown, and may come after the agent's end. */
const AGENT_CHANGES: { readonly [Kind in AgentEvent['kind']]: AgentChange<Kind> | null } = {
  agent_started: ({ state }) => ({ ...IDLE, phase: 'ready', state }),
  turn_started: ({ at, state }) => ({ ...IDLE, phase: 'running', state, since: at }),
  turn_ended: ({ costMicros }, agent) => ({ ...IDLE, phase: 'ready', costMicros: agent.costMicros + costMicros }),
  transition: ({ state, to }) => ({ ...IDLE, phase: 'ready', state: to ?? state }),
  sleeping: ({ why, untilMs, message }) => ({ ...IDLE, phase: 'sleeping', wait: { why, untilMs, message } }),
  woken: becomes('ready'),
  agent_resumed: becomes('ready'),
  answer_withheld: becomes('withheld'),
  visit_limit: becomes('limited'),
  agent_paused: becomes('paused'),
  agent_failed: becomes('failed'),
  agent_ended: null,
  reminded: null,
  session_lost: null,
  warning: null,
};

function applyAgentEvent(agents: Map<string, AgentView>, event: AgentEvent): void {
  const { agent: id, state, kind } = event;
  if (kind === 'agent_ended') agents.delete(id);
  const change = AGENT_CHANGES[kind] as AgentChange<AgentEvent['kind']> | null;
  if (change === null) return;
  const agent = agents.get(id) ?? { id, state, phase: 'ready', ...IDLE, costMicros: 0 };
  agents.set(id, { ...agent, ...change(event, agent) });
}
