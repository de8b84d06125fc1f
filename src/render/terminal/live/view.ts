import type { Activity, Doing } from '../../../core/run/activity.ts';
import type { AgentEnded, Event, RunResumed, RunStarted } from '../../../core/run/event.ts';
import type { AgentStatus } from '../../../core/run/observed-status.ts';
import type { Quota } from '../../../core/run/quota.ts';
import type { StopReason } from '../../../core/run/run.ts';
import { addTokens, NO_TOKENS, sumTokens, type Tokens } from '../../../core/run/tokens.ts';
import type { Joining } from '../../../core/run/worker-event.ts';
import { REACTIONS } from '../../../language/failure.ts';
import { formatAgentLabel } from '../../agent-labels.ts';
import { sanitizeLine } from '../../sanitize.ts';
import { NO_WORK_TIME, updateWorkTime, type WorkTime } from '../../work-time.ts';
import { createQuestionView, type QuestionView } from './question-view.ts';

/** An agent as the live view shows it. */
export interface AgentView {
  readonly id: string;
  /** Its name on the screen. */
  readonly label: string;
  readonly state: string;
  /** The file of the evaluator that judges what the state answered; null while none does. */
  readonly evaluator: string | null;
  /** `queued` is a turn that waits for a slot of its node. */
  readonly phase: AgentStatus;
  /** When its turn started, and its latest activity; null between turns. */
  readonly since: number | null;
  readonly doing: Doing | null;
  /** The reason why it sleeps; null if it does not. */
  readonly wait: AgentWait | null;
  /** The workers it waits for while it joins; null otherwise. */
  readonly join: JoinView | null;
  /** The question it waits with; null otherwise. */
  readonly question: QuestionView | null;
  /** The questions about its tools; `question` is the first of them. */
  readonly questions: readonly QuestionView[];
  /** The operation on its worktree that it waits for; null for none. */
  readonly worktree: 'opening' | 'leaving' | null;
  readonly parent: string | null;
  /** Its variable `group`, by which a join may choose. */
  readonly group: string | null;
  readonly costMicros: number;
}

/** The workers that an agent waits for. */
export type JoinView = Pick<Joining, 'workers' | 'done' | 'wanted' | 'group' | 'untilMs'>;

/** The reason why an agent sleeps. */
export interface AgentWait {
  readonly why: 'retry' | 'usage_limit';
  readonly untilMs: number;
  readonly message: string;
  /** True if no agent gets a Claude turn until then. */
  readonly holdsAll: boolean;
}

/** A run as the live view shows it, built from its events and activities. */
export interface LiveView {
  /** Its name in the title; empty before the run has started. */
  readonly name: string;
  readonly run: string;
  readonly worked: WorkTime;
  readonly budgetMicros: number | null;
  /** How many Claude turns may run at once, and with little quota left; null for any number. */
  readonly parallel: number | null;
  readonly loweredParallel: number | null;
  readonly parallelScripts: number | null;
  /** How full the windows of the subscription are, as far as is known. */
  readonly quota: Quota | null;
  readonly spentMicros: number;
  readonly cannedMicros: number;
  readonly tokens: Tokens;
  /** In the order of their start, without those that ended with a result, which are only counted. */
  readonly agents: ReadonlyMap<string, AgentView>;
  /** How many workers were forked, and how many of them have ended. */
  readonly workers: number;
  readonly endedWorkers: number;
  /** How many agents have ended in each state. */
  readonly endedByState: ReadonlyMap<string, number>;
  readonly stop: StopReason | null;
  /** The reason why the whole run waits, such as a missing node; null if it does not. */
  readonly waitsFor: string | null;
  /** The operation on the run's clone that blocks everything else; null for none. */
  readonly clone: 'opening' | 'leaving' | null;
  /** How often the user has pressed Ctrl-C. */
  readonly interrupts: number;
}

/** The view before the first event. */
export const EMPTY_VIEW: LiveView = {
  name: '',
  run: '',
  worked: NO_WORK_TIME,
  budgetMicros: null,
  parallel: null,
  loweredParallel: null,
  parallelScripts: null,
  quota: null,
  spentMicros: 0,
  cannedMicros: 0,
  tokens: NO_TOKENS,
  agents: new Map(),
  workers: 0,
  endedWorkers: 0,
  endedByState: new Map(),
  stop: null,
  waitsFor: null,
  clone: null,
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

const EVENTS_AT_ONCE = 1000;

/** The view after these events, which are kept in memory only a few at a time: a long run has millions. */
export async function applyEventStream(view: LiveView, events: AsyncIterable<Event>): Promise<LiveView> {
  let next = view;
  let some: Event[] = [];
  for await (const event of events) {
    some.push(event);
    if (some.length < EVENTS_AT_ONCE) continue;
    next = applyEvents(next, some);
    some = [];
  }
  return applyEvents(next, some);
}

/** The view while the turns of these agents, and of no others, wait for slots of their nodes. */
export function applyQueued(view: LiveView, queued: ReadonlySet<string>): LiveView {
  const agents = new Map(view.agents);
  for (const [id, agent] of view.agents) {
    if (agent.phase === 'running' && queued.has(id)) agents.set(id, { ...agent, phase: 'queued' });
    if (agent.phase === 'queued' && !queued.has(id)) agents.set(id, { ...agent, phase: 'running' });
  }
  return { ...view, agents };
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
    case 'quota':
      return { ...view, quota: event.quota, loweredParallel: event.parallel };
    case 'run_stopping':
      return { ...view, stop: event.stop, clone: null };
    case 'run_waiting':
      return { ...view, waitsFor: event.waitsFor };
    case 'workspace_opening':
      return { ...view, clone: 'opening' };
    case 'workspace_leaving':
      return { ...view, clone: 'leaving' };
    case 'workspace_opened':
    case 'workspace_left':
      return { ...view, clone: null };
    case 'turn_ended':
    case 'cost_corrected': {
      const { spentMicros, costMicros, canned, models } = event;
      const formerMicros = event.kind === 'cost_corrected' && event.formerCanned ? event.formerMicros : 0;
      const cannedMicros = view.cannedMicros + (canned ? costMicros : 0) - formerMicros;
      return { ...view, spentMicros, cannedMicros, tokens: addTokens(view.tokens, sumTokens(models)) };
    }
    case 'agent_started':
      return event.parent === null ? view : { ...view, workers: view.workers + 1 };
    case 'agent_ended':
      return applyAgentEnd(view, event);
    case 'agent_cancelled':
      return { ...view, endedWorkers: view.endedWorkers + 1 };
    default:
      return view;
  }
}

const applyRunStart = (view: LiveView, { options }: RunStarted | RunResumed): LiveView => ({
  ...view,
  budgetMicros: options.budgetMicros,
  parallel: options.parallel,
  parallelScripts: options.parallelScripts,
  stop: null,
});

function applyAgentEnd(view: LiveView, { agent, state }: AgentEnded): LiveView {
  const endedByState = new Map(view.endedByState).set(state, (view.endedByState.get(state) ?? 0) + 1);
  return { ...view, endedByState, endedWorkers: view.endedWorkers + (agent === 'main' ? 0 : 1) };
}

type AgentEvent = Extract<Event, { readonly agent: string }>;

/** The change that an event makes to a visible agent. */
type AgentChange<Kind extends AgentEvent['kind']> = (
  event: Extract<AgentEvent, { kind: Kind }>,
  agent: AgentView,
) => Partial<AgentView>;

const IDLE = { since: null, doing: null, wait: null, join: null, question: null, questions: [], worktree: null };
const READY: Partial<AgentView> = { ...IDLE, phase: 'ready' };

/** The changes of an agent whose tools wait for a person: it shows the first, and works on without any. */
const withQuestions = (questions: readonly QuestionView[]): Partial<AgentView> => ({
  phase: questions.length === 0 ? 'running' : 'asking',
  question: questions[0] ?? null,
  questions,
});

const withoutQuestion = ({ questions, since }: AgentView, ask: string): Partial<AgentView> => {
  const left = withQuestions(questions.filter((each) => each.ask !== ask));
  // Between two turns it waits for its next prompt.
  return left.phase === 'running' && since === null ? { ...left, phase: 'ready' } : left;
};

const becomes = (phase: AgentStatus) => (): Partial<AgentView> => ({ ...IDLE, phase });

/** The changes by kind of event; null for those that change nothing that is shown, and may come after the agent's end. */
const AGENT_CHANGES: { readonly [Kind in AgentEvent['kind']]: AgentChange<Kind> | null } = {
  agent_started: ({ agent: id, state, parent, variables }) => {
    const { group = null } = variables;
    return {
      ...IDLE,
      label: formatAgentLabel({ id, variables }),
      phase: 'ready',
      state,
      evaluator: null,
      parent,
      group,
    };
  },
  turn_started: ({ at, state, evaluator }) => ({ ...IDLE, phase: 'running', state, evaluator, since: at }),
  turn_ended: ({ costMicros, failure }, agent) => ({
    ...READY,
    ...(failure === 'parked' && agent.questions.length > 0 && withQuestions(agent.questions)),
    costMicros: agent.costMicros + costMicros,
  }),
  transition: ({ state, to }) => ({ ...IDLE, phase: 'ready', state: to ?? state, evaluator: null }),
  evaluated: null,
  sleeping: ({ why, untilMs, message, failure }) => {
    const holdsAll = REACTIONS[failure] === 'hold' || REACTIONS[failure] === 'probe';
    return { ...IDLE, phase: 'sleeping', wait: { why, untilMs, message, holdsAll } };
  },
  woken: becomes('ready'),
  worktree_opening: () => ({ ...IDLE, phase: 'worktree', worktree: 'opening' }),
  worktree_opened: becomes('ready'),
  worktree_leaving: () => ({ ...IDLE, phase: 'worktree', worktree: 'leaving' }),
  worktree_left: null,
  worktree_discarded: null,
  rehomed: null,
  cost_corrected: ({ costMicros, formerMicros }, agent) => ({
    costMicros: agent.costMicros + costMicros - formerMicros,
  }),
  agent_resumed: becomes('ready'),
  asked: (event, agent) =>
    event.question.permission === null
      ? { ...IDLE, phase: 'asking', question: createQuestionView(event) }
      : withQuestions([...agent.questions, createQuestionView(event)]),
  ask_answered: ({ ask, permission }, agent) => (permission === null ? READY : withoutQuestion(agent, ask)),
  ask_timed_out: ({ ask, permission }, agent) => (permission === null ? READY : withoutQuestion(agent, ask)),
  ask_closed: ({ ask }, agent) => (agent.questions.some((each) => each.ask === ask) ? withoutQuestion(agent, ask) : {}),
  said: null,
  said_delivered: null,
  turn_interrupted: null,
  answer_withheld: becomes('withheld'),
  visit_limit: becomes('limited'),
  agent_paused: becomes('paused'),
  agent_failed: becomes('failed'),
  joining: ({ state, workers, done, wanted, group, untilMs }) => {
    return { ...IDLE, phase: 'joining', state, join: { workers, done, wanted, group, untilMs } };
  },
  joined: ({ to }) => ({ ...IDLE, phase: 'ready', state: to }),
  cancelling: becomes('cancelling'),
  agent_cancelled: null,
  agent_ended: null,
  printed: null,
  reminded: null,
  session_lost: null,
  warning: null,
};

function applyAgentEvent(agents: Map<string, AgentView>, event: AgentEvent): void {
  const { agent: id, state, kind } = event;
  if (isEndOfWorker(kind)) countForJoin(agents, id);
  if (kind === 'agent_ended' || kind === 'agent_cancelled') agents.delete(id);
  // It may come after the agent's end.
  if (kind === 'cost_corrected' && !agents.has(id)) return;
  const change = AGENT_CHANGES[kind] as AgentChange<AgentEvent['kind']> | null;
  if (change === null) return;
  const agent = agents.get(id) ?? {
    id,
    label: sanitizeLine(id),
    state,
    evaluator: null,
    phase: 'ready',
    ...IDLE,
    parent: null,
    group: null,
    costMicros: 0,
  };
  agents.set(id, { ...agent, ...change(event, agent) });
}

/** The events after which a worker is done for a join that waits for it. */
const ENDS: ReadonlySet<AgentEvent['kind']> = new Set(['agent_ended', 'agent_failed', 'visit_limit']);

const isEndOfWorker = (kind: AgentEvent['kind']): boolean => ENDS.has(kind);

/** Counts an agent that is done for the join of its parent, if that waits for it. */
function countForJoin(agents: Map<string, AgentView>, id: string): void {
  const worker = agents.get(id);
  const parent = agents.get(worker?.parent ?? '');
  if (worker === undefined || parent === undefined || parent.join === null) return;
  const { group, done } = parent.join;
  if (group === null || group === worker.group)
    agents.set(parent.id, { ...parent, join: { ...parent.join, done: done + 1 } });
}
