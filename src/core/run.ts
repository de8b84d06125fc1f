import { type Agent, newAgent } from './agent.ts';
import { indexOfAgent, replaceAgent } from './agent-index.ts';
import { EMPTY_LEDGER, type Ledger } from './ledger.ts';
import type { Position, Preference } from './position.ts';
import type { Platform } from './state-names.ts';

export const RUN_VERSION = 1;

/** Options that a run remembers and a resume may change. `null` means: no such limit. */
export interface Options extends Preference {
  readonly budgetMicros: number | null;
  readonly maxIterations: number | null;
  /** Claude turns under way at once. */
  readonly parallel: number | null;
  /** How often a state is reminded of its tags, and how often a failed turn is tried again. */
  readonly reminders: number;
  readonly retries: number;
  /** Whether to sleep through usage limits; otherwise they pause the run. */
  readonly wait: boolean;
  readonly resetStack: 'keep' | 'clear';
  /** How long a turn may be silent, where its state does not say; null means: what is usual for its kind. */
  readonly timeoutMs: number | null;
  /** What Claude Code may do without asking; `skipPermissions` lets it do anything. */
  readonly permissionMode: string;
  readonly skipPermissions: boolean;
  /** Whether the files of finished turns are kept. */
  readonly debug: boolean;
  /** Who answers prompts: `claude`, or `replay:FILE`, canned answers from a file. */
  readonly agent: string;
  /** The `claude` to use; null means: the one on the PATH. */
  readonly claude: string | null;
  /** Variables for every prompt and script of the run. */
  readonly variables: Readonly<Record<string, string>>;
}

export const DEFAULT_OPTIONS: Options = {
  model: null,
  effort: null,
  budgetMicros: 10_000_000,
  maxIterations: null,
  parallel: 8,
  reminders: 3,
  retries: 3,
  wait: true,
  resetStack: 'keep',
  timeoutMs: null,
  permissionMode: 'acceptEdits',
  skipPermissions: false,
  debug: true,
  agent: 'claude',
  claude: null,
  variables: {},
};

/** Why no new turn may start. */
export type StopReason =
  | { readonly kind: 'budget' }
  | { readonly kind: 'iterations' }
  | { readonly kind: 'usage_limit'; readonly untilMs: number; readonly message: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'interrupted' };

/** How a run can end, for good or until it is resumed. */
export const END_STATUSES = [
  'completed',
  'failed',
  'waiting',
  'paused',
  'budget_exceeded',
  'iteration_limit',
  'interrupted',
] as const;

export type RunStatus = 'running' | (typeof END_STATUSES)[number];

/** A run as plain data. Saved and loaded at any point, it goes on as if nothing had happened. */
export interface Run {
  readonly version: typeof RUN_VERSION;
  readonly id: string;
  /** What people call it: the workflow's name unless they chose another. */
  readonly name: string;
  readonly status: RunStatus;
  readonly workflow: { readonly name: string; readonly path: string; readonly platform: Platform };
  readonly startedAt: number;
  readonly options: Options;
  /** Steps taken so far. */
  readonly seq: number;
  /** States entered so far. */
  readonly iterations: number;
  readonly ledger: Ledger;
  /** What keeps every Claude turn from starting: a usage limit, or credentials that are being tried again. */
  readonly hold: { readonly untilMs: number; readonly message: string } | null;
  readonly stop: StopReason | null;
  /** All agents there ever were, in the order of their birth. */
  readonly agents: readonly Agent[];
}

/** Options with some of them changed; variables are changed one by one. A limit of nothing is no limit. */
export function mergeOptions(options: Options, changes: Partial<Options>): Options {
  const changed = { ...options, ...changes, variables: { ...options.variables, ...changes.variables } };
  return {
    ...changed,
    budgetMicros: changed.budgetMicros || null,
    maxIterations: changed.maxIterations || null,
    parallel: changed.parallel || null,
  };
}

/** A run before its first step, its only agent about to enter the workflow. */
export function newRun(
  start: Pick<Run, 'id' | 'workflow' | 'startedAt' | 'options'> & { readonly name?: string } & Pick<
      Position,
      'state' | 'cwd' | 'input'
    >,
): Run {
  const { id, workflow, name = workflow.name, startedAt, options, state, cwd, input } = start;
  return {
    version: RUN_VERSION,
    id,
    name,
    status: 'running',
    workflow,
    startedAt,
    options: mergeOptions(options, {}),
    seq: 0,
    iterations: 0,
    ledger: EMPTY_LEDGER,
    hold: null,
    stop: null,
    agents: [
      newAgent({ id: 'main', parent: null, state, cwd, input, model: null, effort: null, variables: {}, since: 0 }),
    ],
  };
}

/** The agent of that name; there must be one. */
export function getAgent(run: Run, id: string): Agent {
  const agent = run.agents[indexOfAgent(run.agents, id)];
  if (agent === undefined) throw new Error(`run ${run.id} has no agent ${id}`);
  return agent;
}

/** The run with one agent replaced. */
export function withAgent(run: Run, agent: Agent): Run {
  return { ...run, agents: replaceAgent(run.agents, indexOfAgent(run.agents, agent.id), agent) };
}
