import type { FailureKind } from './failure.ts';
import { EMPTY_LEDGER, type Ledger } from './ledger.ts';
import type { Platform } from './names.ts';
import type { Rules } from './policy.ts';
import type { Position, Preference } from './position.ts';

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

/** What a turn says to Claude Code: the state's prompt, a reminder of its tags, or to go on after an interruption. */
export type Prompt =
  | { readonly kind: 'state' }
  | { readonly kind: 'reminder'; readonly text: string }
  | { readonly kind: 'continue' };

/** Which conversation a Claude turn uses; `id` is chosen before it starts, so that it is known whatever happens. */
export type SessionUse =
  | { readonly kind: 'new'; readonly id: string }
  | { readonly kind: 'resume'; readonly id: string }
  | { readonly kind: 'fork'; readonly id: string; readonly from: string };

/** A turn that is on record: it is under way, or was when the lights went out. */
export interface TurnRecord {
  /** Counted per agent, from 1. */
  readonly number: number;
  readonly prompt: Prompt;
  /** Null for a script. */
  readonly session: SessionUse | null;
  readonly startedAt: number;
}

/**
 * What an agent is doing.
 *
 *   ready ──▶ running ──▶ ready, ended, failed, paused        a turn ended
 *     ▲          ├──────▶ sleeping ──▶ ready                  it is tried again later
 *     │          └──────▶ withheld                            the budget ran out before its answer was followed
 *     └── limited, paused, withheld, failed                   the user resumed the run
 */
export type Phase =
  /** `since` is the step in which it became ready: first come, first served. */
  | { readonly kind: 'ready'; readonly prompt: Prompt; readonly since: number }
  | { readonly kind: 'running'; readonly turn: TurnRecord }
  | {
      readonly kind: 'sleeping';
      readonly why: 'retry' | 'usage_limit';
      readonly untilMs: number;
      readonly prompt: Prompt;
    }
  | {
      readonly kind: 'withheld';
      readonly text: string;
      readonly denials: readonly string[];
      readonly folders: Readonly<Record<string, string | null>>;
    }
  | { readonly kind: 'limited'; readonly maxVisits: number }
  | {
      readonly kind: 'paused';
      readonly why: FailureKind | 'unreadable';
      readonly message: string;
      readonly prompt: Prompt;
    }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ended'; readonly result: string };

/** A thread of control within a run: where it stands, what it is doing, what it has used up. */
export interface Agent extends Position {
  readonly id: string;
  readonly parent: string | null;
  /** The attributes of the fork it was born of. */
  readonly variables: Readonly<Record<string, string>>;
  readonly phase: Phase;
  /** Of the state it is in, as they were when it was entered; null until then. */
  readonly rules: Rules | null;
  /** Since it entered the state: turns taken, reminders sent, tries repeated, money spent, whether it must say its tag. */
  readonly tries: number;
  readonly reminders: number;
  readonly retries: number;
  readonly stateMicros: number;
  readonly mustSay: boolean;
  /** In all its life: turns taken, workers forked, money spent, how often it entered each state. */
  readonly turns: number;
  readonly forks: number;
  readonly costMicros: number;
  readonly visits: Readonly<Record<string, number>>;
}

/** Why no new turn may start. */
export type Stop =
  | { readonly kind: 'budget' }
  | { readonly kind: 'iterations' }
  | { readonly kind: 'usage_limit'; readonly untilMs: number; readonly message: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'interrupted' };

export type RunStatus =
  | 'running'
  | 'completed'
  | 'failed'
  | 'waiting'
  | 'paused'
  | 'budget_exceeded'
  | 'iteration_limit'
  | 'interrupted';

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
  readonly stop: Stop | null;
  /** All agents there ever were, in the order of their birth. */
  readonly agents: readonly Agent[];
}

/** Options with some of them changed; variables are changed one by one. A limit of nothing is no limit. */
export function changedOptions(options: Options, changes: Partial<Options>): Options {
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
    options: changedOptions(options, {}),
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

type Birth = Pick<Agent, 'id' | 'parent' | 'state' | 'cwd' | 'input' | 'model' | 'effort' | 'variables'>;

/** An agent about to enter its first state. */
export function newAgent({ since, ...birth }: Birth & { since: number }): Agent {
  return {
    ...birth,
    session: null,
    stack: [],
    phase: { kind: 'ready', prompt: { kind: 'state' }, since },
    ...FRESH_IN_STATE,
    turns: 0,
    forks: 0,
    costMicros: 0,
    visits: {},
  };
}

/** What an agent forgets when it moves on. */
export const FRESH_IN_STATE = {
  rules: null,
  tries: 0,
  reminders: 0,
  retries: 0,
  stateMicros: 0,
  mustSay: false,
} as const;

/** How often an agent has entered the state it is in. */
export function visitsOf({ visits, state }: Agent): number {
  return Object.hasOwn(visits, state) ? (visits[state] ?? 0) : 0;
}

/** The agent of that name; there must be one. */
export function agentOf(run: Run, id: string): Agent {
  const agent = run.agents.find((each) => each.id === id);
  if (agent === undefined) throw new Error(`run ${run.id} has no agent ${id}`);
  return agent;
}

/** The run with one agent replaced. */
export function withAgent(run: Run, agent: Agent): Run {
  const index = run.agents.findIndex((each) => each.id === agent.id);
  return { ...run, agents: run.agents.with(index, agent) };
}
