import fc from 'fast-check';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import { getAgent, newRun, type Run, withAgent } from '../../src/core/run/run.ts';
import { step } from '../../src/core/step.ts';
import { due } from '../../src/core/turns/due.ts';
import type { PathStep } from '../../src/graph/reachability.ts';
import type { PolicyEntry } from '../../src/language/policy.ts';
import { formatPolicyTag } from '../../src/language/reminder.ts';
import type { TagName } from '../../src/language/transitions/index.ts';

/** A small workflow with random transitions: its files and their policies. */
export interface RandomWorkflow {
  readonly files: Readonly<Record<string, string>>;
  readonly policies: Readonly<Record<string, readonly PolicyEntry[]>>;
}

export const STATES = ['START.md', 'A.md', 'B.md'];
/** A state outside of the workflow, used as the return state of a call. */
const HOME = 'HOME.md';
/** On a shortest path to a result no state calls itself, so this many frames are enough. */
const DEEPEST = STATES.length + 1;

const state = fc.constantFrom(...STATES);
const entry: fc.Arbitrary<PolicyEntry> = fc.oneof(
  { weight: 4, arbitrary: simple('goto') },
  { weight: 1, arbitrary: simple('reset') },
  { weight: 1, arbitrary: state.map((target) => ({ tag: 'reset' as const, target, attributes: { stack: 'clear' } })) },
  { weight: 5, arbitrary: pair('call', 'return') },
  { weight: 2, arbitrary: pair('function', 'return') },
  { weight: 3, arbitrary: pair('fork', 'next') },
  { weight: 2, arbitrary: fc.constant<PolicyEntry>({ tag: 'result', target: null, attributes: {} }) },
);

/** A step of a path has only a tag and states; entries that differ only in other attributes are the same step. */
const same = ({ tag, target, attributes }: PolicyEntry): string =>
  [tag, target, attributes.return, attributes.next].join();

export const randomWorkflow: fc.Arbitrary<RandomWorkflow> = fc
  .tuple(...STATES.map(() => fc.uniqueArray(entry, { minLength: 1, maxLength: 3, selector: same })))
  .map((policies) => {
    const named = STATES.map((file, index) => [file, policies[index] ?? []] as const);
    return {
      policies: Object.fromEntries(named),
      files: Object.fromEntries(named.map(([file, policy]) => [file, textOf(policy)])),
    };
  });

function simple(tag: TagName): fc.Arbitrary<PolicyEntry> {
  return state.map((target) => ({ tag, target, attributes: {} }));
}

function pair(tag: TagName, key: string): fc.Arbitrary<PolicyEntry> {
  return fc.tuple(state, state).map(([target, other]) => ({ tag, target, attributes: { [key]: other } }));
}

function textOf(policy: readonly PolicyEntry[]): string {
  const entries = policy.map(({ tag, target, attributes }) => {
    return `  - ${JSON.stringify({ tag, ...(target !== null && { target }), ...attributes })}\n`;
  });
  return `---\nallowed_transitions:\n${entries.join('')}---\n${policy.map(formatPolicyTag).join('\n')}\n`;
}

/** Explores what a workflow can do with the real interpreter. */
export class WorkflowExplorer {
  readonly randomWorkflow: RandomWorkflow;

  constructor(randomWorkflow: RandomWorkflow) {
    this.randomWorkflow = randomWorkflow;
  }

  begin(state: string, home = false): Run {
    const workflow = { name: 'random', path: '/random', platform: 'unix' } as const;
    const run = newRun({ id: 'r', workflow, startedAt: 0, options: DEFAULT_OPTIONS, state, cwd: '/', input: null });
    const frame = { state: HOME, session: null, cwd: '/', task: null, nesting: 0, model: null, effort: null };
    return home ? withAgent(run, { ...getAgent(run, 'main'), stack: [frame] }) : run;
  }

  /** The run after one of its agents has answered with the tag of this entry. */
  answer(run: Run, agent: string, entry: PolicyEntry): Run {
    const policy = this.randomWorkflow.policies[getAgent(run, agent).state] ?? [];
    const rules = { policy, maxVisits: null };
    const began = step(run, { kind: 'began', at: 0, agent, sessionId: 's', rules, warnings: [] });
    const scope = { files: [...STATES, HOME], platform: 'unix' } as const;
    const answered = {
      kind: 'answered',
      at: 0,
      agent,
      text: formatPolicyTag(entry),
      cost: null,
      denials: [],
      folders: {},
      scope,
    } as const;
    return step(began.run, answered).run;
  }

  /** The agents with a due turn. */
  ready(run: Run): Run['agents'] {
    return due(run)
      .flatMap(({ agent }) => getAgent(run, agent))
      .filter(({ state }) => state !== HOME);
  }

  /** Every position that one agent can reach from here, up to a stack depth. Its workers take no turns. */
  *positions(start: Run, agent = 'main', deepest = DEEPEST): Generator<Run> {
    const seen = new Set<string>();
    const queue = [start];
    for (let i = 0; i < queue.length; i++) {
      const run = queue[i] ?? start;
      const now = getAgent(run, agent);
      const key = [now.phase.kind, now.input, now.state, ...now.stack.map(({ state }) => state)].join();
      if (seen.has(key) || now.stack.length > deepest) continue;
      seen.add(key);
      yield run;
      if (now.phase.kind !== 'ready' || now.state === HOME) continue;
      const alone = { ...run, agents: [now] };
      for (const entry of this.randomWorkflow.policies[now.state] ?? []) queue.push(this.answer(alone, agent, entry));
    }
  }

  /** Follows a path and returns the state in which it ends. */
  walk(path: readonly PathStep[]): string {
    let run = this.begin('START.md');
    let agent = 'main';
    for (const step of path) {
      const { state } = getAgent(run, agent);
      const entry = this.randomWorkflow.policies[state]?.find((each) => matchesStep(each, step));
      if (entry === undefined || state !== step.from) throw new Error(`${state} cannot go ${JSON.stringify(step)}`);
      const depth = getAgent(run, agent).stack.length;
      const before = run.agents.length;
      run = this.answer(run, agent, entry);
      if (step.how === 'worker') agent = run.agents[before]?.id ?? '';
      if (step.how === 'back') run = this.returnToCaller(run, agent, depth, step.to);
    }
    return getAgent(run, agent).state;
  }

  /** Whether all agents can end; runs with more than a few workers are not explored. */
  allAgentsCanEnd(): boolean {
    const seen = new Set<string>();
    const queue = [this.begin('START.md')];
    for (let i = 0; i < queue.length && i < 500; i++) {
      const run = queue[i] ?? this.begin('START.md');
      const [agent] = this.ready(run);
      if (agent === undefined) return run.status === 'completed';
      const stacks = this.ready(run).map(({ state, stack }) => [state, ...stack.map((frame) => frame.state)].join());
      if (seen.has(stacks.join(';')) || stacks.length > 3 || agent.stack.length > 2) continue;
      seen.add(stacks.join(';'));
      for (const entry of this.randomWorkflow.policies[agent.state] ?? [])
        queue.push(this.answer(run, agent.id, entry));
    }
    return false;
  }

  /** Continues until a result returns to the caller; frames can also be lost by clearing the stack. */
  private returnToCaller(run: Run, agent: string, depth: number, to: string): Run {
    for (const later of this.positions(run, agent, depth + DEEPEST)) {
      const { stack, state, input } = getAgent(later, agent);
      if (stack.length === depth && state === to && input !== null) return later;
    }
    throw new Error('the call does not return');
  }
}

/** Whether a call of this state can return. */
export function canReturn(interpreter: WorkflowExplorer, state: string): boolean {
  for (const run of interpreter.positions(interpreter.begin(state, true))) {
    if (getAgent(run, 'main').state === HOME) return true;
  }
  return false;
}

/** Whether an agent that starts in this state can end. */
export function canEnd(interpreter: WorkflowExplorer, state: string): boolean {
  for (const run of interpreter.positions(interpreter.begin(state))) {
    if (getAgent(run, 'main').phase.kind === 'ended') return true;
  }
  return false;
}

/** The states that some agent can enter. */
export function visitedStates(interpreter: WorkflowExplorer): ReadonlySet<string> {
  const seen = new Set(['START.md']);
  const workerStates = new Set(seen);
  for (const workerState of workerStates) {
    for (const run of interpreter.positions(interpreter.begin(workerState))) {
      for (const { state, parent } of run.agents) {
        seen.add(state);
        if (parent !== null) workerStates.add(state);
      }
    }
  }
  return seen;
}

function matchesStep({ tag, target, attributes }: PolicyEntry, { to, how, after, ...step }: PathStep): boolean {
  if (tag !== step.tag) return false;
  if (how === 'back') return target === after && attributes.return === to;
  if (how === 'next') return target === after && attributes.next === to;
  return target === to;
}
