import fc from 'fast-check';
import type { Agent } from '../../src/core/run/agent.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { CostReport } from '../../src/core/run/ledger.ts';
import type { Quota } from '../../src/core/run/quota.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { Resumed, Signal, WorktreesDiscarded } from '../../src/core/signals/signal.ts';
import { step } from '../../src/core/step.ts';
import type { AskTurn } from '../../src/core/turns/ask-turn.ts';
import { due, type Turn } from '../../src/core/turns/due.ts';
import type { WorkspaceTurn } from '../../src/core/turns/worktree-turns.ts';
import { type FailureKind, REACTIONS } from '../../src/language/failure.ts';
import type { Guards } from '../../src/language/guards.ts';
import { fileInWorkflow, type NamedWorkflows } from '../../src/language/named-workflows.ts';
import type { Evaluator, PolicyEntry, Rules } from '../../src/language/policy.ts';
import { scopeOfWorkflow } from './run-driver.ts';

/** A workflow with prompts, a script and a state with a policy, where any state may follow any other. */
export const WORKFLOW = { files: ['START.md', 'A.md', 'B.md', 'S.sh', 'GATE.md'] };

const GATE: PolicyEntry[] = [
  { tag: 'goto', target: 'A', attributes: {} },
  { tag: 'call', target: 'B', attributes: { return: 'GATE' } },
  { tag: 'result', target: null, attributes: {} },
];

/** What the answers in A.md have to pass: a pattern, a gate and a judge. */
const EVALUATORS: Evaluator[] = [
  {
    kind: 'pattern',
    pattern: 'START',
    overridesOn: 'match',
    instead: { tag: 'result', target: null, attributes: {}, payload: 'never there' },
  },
  { kind: 'script', file: 'S' },
  { kind: 'prompt', file: 'GATE.md', model: 'haiku', effort: null },
];

const ALL_OUTCOMES = {
  error: 'B.md',
  timeout: 'B.md',
  denied: 'S.sh',
  too_long: 'START.md',
  no_tag: 'S.sh',
  stuck: 'START.md',
};
const NO_GUARDS: Guards = { retry: null, on: {}, maxVisitsPer: 'agent', stuck: null };

/** States that fail, are entered too often or make no progress lead elsewhere. */
const RULES: Readonly<Record<string, Partial<Rules>>> = {
  'GATE.md': { policy: GATE },
  'B.md': { maxVisits: 2 },
  'A.md': { evaluators: EVALUATORS, guards: { ...NO_GUARDS, on: ALL_OUTCOMES, stuck: { after: 2, files: null } } },
  'S.sh': {
    maxVisits: 2,
    guards: {
      ...NO_GUARDS,
      retry: 0,
      on: { error: 'A.md', timeout: 'B.md', max_visits: 'GATE.md' },
      maxVisitsPer: 'call',
    },
  },
};

/** What the random answers name as workflows: another one with the same states, the run's own, and none. */
const WORKFLOWS: NamedWorkflows = {
  '../lib': {
    name: 'lib',
    title: 'lib',
    path: '/lib',
    state: 'lib/A.md',
    requiredInput: null,
    takesNoInput: false,
    joins: false,
    variables: { v: '1' },
  },
  '../own': {
    name: null,
    title: 'book',
    path: '/w',
    state: 'START.md',
    requiredInput: null,
    takesNoInput: false,
    joins: false,
    variables: {},
  },
  '../gone': { problem: 'there is no ../gone' },
};

/** A random action: which of the due turns is chosen, and how it ends if it is running. */
export interface Action {
  readonly pick: number;
  readonly text: string;
  readonly failure: FailureKind | null;
  readonly progress: 'none' | 'prompt' | 'answer';
  readonly micros: number;
  readonly killed: boolean;
  readonly denied: boolean;
  readonly interlude: 'stop' | 'resume' | 'say' | 'hear' | 'interrupt' | null;
  /** What is used of the subscription, if that is reported. */
  readonly quota?: number | null;
}

const state = fc.constantFrom('START', 'A.md', 'B', 'S.sh', 'GATE', 'NOWHERE', '../A');
const spec = fc.constantFrom('../lib', '../own', '../gone');
const [MODEL, EFFORT, INPUT] = [' model="Opus"', ' effort="HIGH"', ' input="handed over"'];
const attributes = (...all: readonly string[]) => fc.subarray([...all]).map((some) => some.join(''));
const text = fc.oneof(
  { weight: 4, arbitrary: state.map((to) => `<goto>${to}</goto>`) },
  { weight: 1, arbitrary: state.map((to) => `<compact>${to}</compact>`) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(state, attributes(' stack="clear"', ' cd="sub"', INPUT))
      .map(([to, more]) => `<reset${more}>${to}</reset>`),
  },
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom('call', 'function'), state, state, attributes(MODEL, EFFORT, INPUT))
      .map(([tag, to, back, more]) => `<${tag} return="${back}"${more}>${to}</${tag}>`),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.array(fc.tuple(state, attributes(' cd="sub"', ' worktree="auto"', MODEL, EFFORT, INPUT)), {
          minLength: 1,
          maxLength: 3,
        }),
        state,
        fc.boolean(),
      )
      .map(([forks, next, byGoto]) => {
        const way = byGoto ? '' : ` next="${next}"`;
        const tags = forks.map(([to, more]) => `<fork${way} n="1"${more}>${to}</fork>`);
        return `${tags.join(' ')}${byGoto ? ` <goto input="on">${next}</goto>` : ''}`;
      }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.array(fc.tuple(state, attributes(' group="g"', ' worktree="auto"', INPUT)), { maxLength: 3 }),
        state,
        attributes(' wait="any"', ' wait="2"', ' group="g"', ' cancel="true"', ' timeout="1" timeout_next="B"'),
      )
      .map(([forks, next, more]) => {
        const tags = forks.map(([to, each]) => `<fork${each}>${to}</fork>`);
        return `${tags.join(' ')}<join${more}>${next}</join>`;
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('items.txt', 'items.jsonl', 'gone.txt'), state, state, fc.constantFrom('goto', 'join'))
      .map(([file, to, next, tag]) => `<fork-each in="${file}">${to}</fork-each><${tag}>${next}</${tag}>`),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('call', 'function'), spec, state, fc.boolean(), attributes(MODEL, EFFORT, INPUT))
      .map(([tag, to, back, moves, more]) => {
        const cd = tag === 'function' && moves ? ' cd="sub"' : '';
        return `<${tag}-workflow return="${back}"${cd}${more}>${to}</${tag}-workflow>`;
      }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(spec, state, attributes(' cd="sub"', MODEL, EFFORT, INPUT))
      .map(([to, next, more]) => `<fork-workflow next="${next}" n="2"${more}>${to}</fork-workflow>`),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(spec, attributes(' stack="keep"', ' cd="sub"', INPUT))
      .map(([to, more]) => `<reset-workflow${more}>${to}</reset-workflow>`),
  },
  { weight: 3, arbitrary: fc.constantFrom('<confirm/>', '<confirm>well done</confirm>') },
  {
    weight: 2,
    arbitrary: fc.tuple(state, state, fc.boolean()).map(([next, late, isTimed]) => {
      const timeout = isTimed ? ` timeout="1h" timeout_next="${late}" display_files="a.md"` : '';
      return `<ask next="${next}"${timeout}>Which one?</ask>`;
    }),
  },
  { weight: 9, arbitrary: fc.string({ maxLength: 8 }).map((payload) => `<result>${payload}</result>`) },
  { weight: 3, arbitrary: fc.constantFrom('', 'no tag', '<goto>A</goto><result>x</result>', '<call') },
);

/** Any action. */
export const action: fc.Arbitrary<Action> = fc.record({
  pick: fc.nat(50),
  text,
  failure: fc.oneof(
    { weight: 6, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(REACTIONS) as FailureKind[])) },
  ),
  progress: fc.constantFrom('none', 'prompt', 'answer'),
  micros: fc.nat(600_000),
  killed: fc.boolean(),
  denied: fc.boolean(),
  interlude: fc.oneof(
    { weight: 20, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom('stop', 'resume') },
    { weight: 3, arbitrary: fc.constantFrom('say', 'hear', 'interrupt') },
  ),
  quota: fc.oneof({ weight: 12, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(110) }),
});

/** Adds up what turns really cost. */
export class CostMeter {
  paidMicros = 0;

  add(kind: CostReport['kind'], micros: number): CostReport {
    this.paidMicros += micros;
    return { kind, micros };
  }
}

/** What a full disk may have kept from being reported: up to the average of the state, or of the run where there is none. */
function lostMicros(
  { ledger: { states, spentMicros, turns, unknown = [] } }: Run,
  state: string,
  reported: number,
): number {
  const average = (all: { readonly micros: number; readonly turns: number }, left: typeof unknown): number =>
    (all.micros - left.reduce((sum, { micros }) => sum + micros, 0)) / Math.max(1, all.turns - left.length);
  const ofState = average(
    states[state] ?? { micros: 0, turns: 0 },
    unknown.filter((each) => each.state === state),
  );
  return Math.max(0, Math.round(ofState || average({ micros: spentMicros, turns }, unknown)) - reported);
}

/** The signal that an action produces in this run; undefined if no turn is due. */
export function signalOf(run: Run, action: Action, meter: CostMeter): Signal | undefined {
  const at = 2000 + run.seq * 10;
  const scope = scopeOfWorkflow(WORKFLOW);
  const isAboutWords = ['say', 'hear', 'interrupt'].includes(action.interlude ?? '');
  const words = isAboutWords ? wordsSignal(run, action, at) : undefined;
  if (words !== undefined) return words;
  if (run.status !== 'running' && action.pick % 4 === 0) {
    const worktrees = discardableWorktrees(run);
    if (worktrees.length > 0) return { kind: 'worktrees_discarded', at, worktrees };
  }
  if (action.interlude === 'stop') return { kind: 'stopped', at, by: 'stopped' };
  if (action.interlude === 'resume' || run.status !== 'running') {
    return {
      kind: 'resumed',
      at,
      options: {
        budgetMicros: run.ledger.spentMicros + 3_000_000,
        onAsk: action.killed ? 'wait' : null,
        reserve: action.killed ? 20 : null,
        maxWaitMs: action.denied ? 400 : 0,
      },
      ...(action.pick % 5 === 0 && { quota: null }),
      ...questionEnds(run, action, at),
      retry: action.denied,
      lookedUp: Object.fromEntries(
        run.agents.map(({ id }) => [id, { scope, folders: {}, matches: [false, null, null] }]),
      ),
    };
  }
  const [unknown] = run.ledger.unknown ?? [];
  if (unknown !== undefined && action.pick % 4 === 1) {
    meter.paidMicros -= unknown.micros;
    const cost = meter.add(action.killed ? 'estimated' : 'reported', action.micros);
    return { kind: 'cost_found', at, about: { agent: unknown.agent }, turn: unknown.turn, cost };
  }
  const quota = quotaOf(action, at);
  if (quota !== undefined && !action.killed) return { kind: 'quota_reported', at, quota };
  const turns = due(run);
  const turn: Turn | undefined = turns[action.pick % turns.length];
  if (turn === undefined) return undefined;
  const { agent } = turn;
  if (turn.kind === 'workspace') return signalOfWorkspace(turn, action, at);
  if ('node' in turn && turn.node !== null && action.killed && action.pick % 3 === 0) {
    const mayHaveRun = action.progress !== 'none';
    if (mayHaveRun && turn.kind === 'claude' && turn.record !== null)
      meter.paidMicros += turn.record.capMicros ?? lostMicros(run, turn.evaluates?.state ?? turn.state, 0);
    return {
      kind: 'home_lost',
      at,
      agent,
      home: turn.node,
      to: action.denied ? `${turn.node}x` : null,
      mayHaveRun,
      jitter: 0.5,
    };
  }
  if (turn.kind === 'sleep' && turn.why === 'ask') return signalOfAsk(turn, action, at);
  if (turn.kind === 'sleep') return { kind: 'woke', at: Math.max(at, turn.untilMs), agent };
  if (turn.kind === 'worktree' && turn.isWanted) {
    const place = { path: `/w/trees/${agent}`, branch: `b/${agent}`, base: 'c0ffee', repository: '/w/.git' };
    return action.failure === null
      ? { kind: 'worktree_made', at, agent, place, cwd: place.path, ...(action.denied && { home: 'w2' }) }
      : { kind: 'worktree_refused', at, agent, message: 'there is no repository' };
  }
  if (turn.kind === 'worktree') {
    const [commits, dirty] = [action.pick % 3, action.killed];
    return { kind: 'worktree_closed', at, agent, content: { kept: commits > 0 || dirty, commits, dirty } };
  }
  if (turn.record === null) {
    const reads = turn.kind === 'script' || turn.prompt.kind === 'state';
    const rules = reads ? { policy: [], maxVisits: null, ...RULES[fileInWorkflow(turn.state)] } : null;
    const news = quota === undefined ? {} : { quota };
    return { kind: 'began', at, agent, sessionId: `${agent}-${turn.number}`, rules, warnings: [], ...news };
  }
  const use = turn.record.session;
  const failure = action.failure ?? (action.killed && action.denied ? 'transient' : null);
  if (failure !== null) {
    const cost = use === null ? null : meter.add(action.killed ? 'estimated' : 'reported', action.micros);
    if (cost !== null && failure === 'disk')
      meter.paidMicros += lostMicros(run, turn.evaluates?.state ?? turn.state, action.micros);
    const progress = cost?.kind === 'reported' && action.progress === 'none' ? 'prompt' : action.progress;
    return {
      kind: 'failed',
      at,
      agent,
      failure: { kind: failure, message: 'failed', untilMs: at + 500 },
      cost,
      progress,
      jitter: 0.5,
    };
  }
  const cost = use === null ? null : meter.add('reported', action.micros);
  return {
    kind: 'answered',
    at,
    agent,
    text: action.text,
    cost,
    denials: action.denied ? ['Bash'] : [],
    ...(action.denied && { prints: ['a', 'b'] }),
    folders: { sub: '/w/sub' },
    workflows: WORKFLOWS,
    files: {
      'items.txt': { text: 'one\n\ntwo\n' },
      'items.jsonl': { text: '{"name":"one","group":"g"}\n' },
    },
    scope,
    ...(turn.stuck !== null && { fingerprint: action.killed ? 'a' : 'b' }),
    matches: [action.text.includes('START'), null, null],
    evaluated: { folders: { sub: '/w/sub' } },
  };
}

/** The worktrees of a run at rest that somebody may discard. */
const discardableWorktrees = ({ agents, workspace }: Run): WorktreesDiscarded['worktrees'] => [
  ...agents.flatMap(({ id, worktree }) =>
    worktree?.kind === 'closed' && worktree.kept ? [{ agent: id, path: worktree.path, branch: worktree.branch }] : [],
  ),
  ...(workspace?.kind === 'left' && workspace.content.kept
    ? [{ agent: 'main', path: workspace.place.path, branch: workspace.place.branch }]
    : []),
];

/** The clone of a run is made, refused, or left: pushed or not. */
function signalOfWorkspace(
  { isWanted, isOver }: WorkspaceTurn,
  { failure, pick, killed, denied }: Action,
  at: number,
): Signal {
  const place = {
    path: '/w/trees/main',
    branch: 'b/main',
    base: 'c0ffee',
    repository: '/w/trees/main/.git',
    remote: '/r',
  };
  if (isWanted && failure !== null) return { kind: 'workspace_refused', at, message: 'there is no repository' };
  if (isWanted) return { kind: 'workspace_made', at, place, ...(killed && { warning: 'it was gone' }) };
  const content = { kept: !isOver || killed, commits: pick % 3, dirty: killed, pushed: !denied };
  return { kind: 'workspace_left', at, content, ...(denied && { problem: 'the push was refused' }) };
}

/** A person says something to some agent, or an agent hears what was written into its turn; undefined if there is nothing to hear. */
function wordsSignal({ agents, seq }: Run, { interlude, pick, killed }: Action, at: number): Signal | undefined {
  const isWritten = ({ messages }: Agent): boolean =>
    messages.some(({ turn, delivered }) => turn !== null && !delivered);
  const agent = interlude === 'hear' ? agents.find(isWritten) : agents[pick % agents.length];
  if (agent === undefined) return undefined;
  const about = { agent: agent.id };
  const written = agent.messages.find(({ turn, delivered }) => turn !== null && !delivered);
  if (interlude === 'hear') return written && { kind: 'heard', at, about, said: written.id };
  const words = { said: `w${seq}`, text: `words ${seq}`, by: 'anna@laptop', saidAt: at - 1 };
  const { said: interrupt, text, by, saidAt } = words;
  if (interlude === 'interrupt')
    return { kind: 'interrupt', at, about, interrupt, text: killed ? text : null, by, saidAt };
  return { kind: 'said', at, about, ...words, isReachable: !killed };
}

/** What Claude Code reports of one window of one of two accounts; undefined if it reports nothing. */
function quotaOf({ quota: percent = null, pick, denied, progress }: Action, at: number): Quota | undefined {
  if (percent === null) return undefined;
  const window = { percent, status: 'allowed', resetsAtMs: at + pick * 20, reportedAt: at } as const;
  return {
    account: progress === 'none' ? 'b' : 'a',
    windows: { [denied ? 'five_hour' : 'seven_day']: window },
  };
}

/** The end of a question: if it has a timeout, it may be over without an answer. */
function signalOfAsk({ agent, ask, untilMs }: AskTurn, { denied, text }: Action, at: number): Signal {
  if (untilMs !== null && denied) return { kind: 'ask_timed_out', at: Math.max(at, untilMs), agent, ask };
  return { kind: 'ask_answered', at, agent, ask, text, by: 'anna@laptop', answeredAt: at - 5, files: [] };
}

/** The answers that were given while nothing ran, and the questions whose time is over. */
function questionEnds({ agents }: Run, { pick, text }: Action, at: number): Pick<Resumed, 'answers' | 'timedOut'> {
  const asking = agents.flatMap(({ phase }) => (phase.kind === 'asking' ? phase : []));
  const timedOut = asking.filter(({ untilMs }) => untilMs !== null && pick % 3 === 0).map(({ ask }) => ask);
  const answered = asking.filter(({ ask }) => !timedOut.includes(ask) && pick % 2 === 0);
  return {
    timedOut,
    answers: answered.map(({ ask }) => ({ ask, text, by: 'ben@desk', answeredAt: at - 50, files: ['a.pdf'] })),
  };
}

/** So few that random runs archive agents. */
const FEW_AGENTS = { kept: 1, batch: 2 };

/** Applies actions to a run and calls `onStep` after every step. Returns the agents that were archived, too. */
export function applyActions(
  run: Run,
  actions: readonly Action[],
  meter: CostMeter,
  onStep?: (before: Run, signal: Signal, after: Run, events: readonly Event[]) => void,
): { run: Run; events: Event[]; archived: Agent[] } {
  const events: Event[] = [];
  const archived: Agent[] = [];
  let now = run;
  for (const action of actions) {
    const signal = signalOf(now, action, meter);
    if (signal === undefined) continue;
    const next = step(now, signal, FEW_AGENTS);
    if (next.run.archive !== now.archive) archived.push(...missingAgents(now, next.run));
    onStep?.(now, signal, next.run, next.events);
    events.push(...next.events);
    now = next.run;
  }
  return { run: now, events, archived };
}

/** The agents of a run that are not in a later one. */
export function missingAgents(before: Run, after: Run): readonly Agent[] {
  const ids = new Set(after.agents.map(({ id }) => id));
  return before.agents.filter(({ id }) => !ids.has(id));
}
