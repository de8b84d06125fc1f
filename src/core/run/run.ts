import type { CalledWorkflow } from '../../language/named-workflows.ts';
import { type Grants, NO_GRANTS } from '../../language/permission.ts';
import type { PinnedCode } from '../../language/pinned-code.ts';
import type { Position } from '../../language/position.ts';
import type { Platform } from '../../language/state-names.ts';
import { isReplay } from '../options/option-types.ts';
import { mergeOptions, type Options } from '../options/options.ts';
import { type Agent, newAgent } from './agent.ts';
import { indexOfAgent, replaceAgent, replaceAgents } from './agent-index.ts';
import { EMPTY_LEDGER, type Ledger } from './ledger.ts';
import type { Quota } from './quota.ts';
import { countTokens } from './tokens.ts';
import type { WorkFolders } from './work-folders.ts';
import type { Workspace } from './workspace.ts';

/** The version of the state file; see `storage/migrations.ts`. */
export const RUN_VERSION = 6;

/** Why no new turn may start. */
export type StopReason =
  | { readonly kind: 'budget' }
  | { readonly kind: 'iterations' }
  | { readonly kind: 'usage_limit'; readonly untilMs: number; readonly message: string }
  /** Its clone cannot be made, or what is in it cannot be pushed. */
  | { readonly kind: 'workspace'; readonly message: string }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'interrupted' };

/** The statuses with which a run can end, for good or until it is resumed. */
export const END_STATUSES = [
  'completed',
  'failed',
  'waiting',
  'paused',
  'budget_exceeded',
  'iteration_limit',
  'interrupted',
] as const;

/** The status of a run. */
export type RunStatus = 'running' | (typeof END_STATUSES)[number];

/** A run as plain data. Saved and loaded at any point, it continues as if it had never stopped. */
export interface Run {
  readonly version: typeof RUN_VERSION;
  readonly id: string;
  /** The display name: that of the workflow, unless the user chose another. */
  readonly name: string;
  readonly status: RunStatus;
  readonly workflow: { readonly name: string; readonly path: string; readonly platform: Platform };
  /** The other workflows that its agents have entered, by the name that comes before those of their states. */
  readonly workflows: Readonly<Record<string, CalledWorkflow>>;
  /** The code that its turns may use; null in older state files, until the run is resumed. */
  readonly code: PinnedCode | null;
  /** The folder that the run was started in; null in older state files. */
  readonly startFolder: string | null;
  /** The folders in which its agents can work; null in older state files, until the run is resumed. */
  readonly workFolders: WorkFolders | null;
  /** The clone in which its agents work; null if they work in a folder of the user. */
  readonly workspace: Workspace | null;
  readonly startedAt: number;
  /** True if a person watches the process that drives it and can answer there; false in older state files. */
  readonly attended: boolean;
  readonly options: Options;
  /** Steps taken so far. */
  readonly seq: number;
  /** States entered so far. */
  readonly iterations: number;
  readonly ledger: Ledger;
  /** The reason why no Claude turn starts: a usage limit, or credentials that are being retried. */
  readonly hold: {
    readonly untilMs: number;
    readonly message: string;
    /** True if it is only there for the reserve. */
    readonly reserve?: true;
  } | null;
  /** The last word about the windows of the subscription; null if there was none. */
  readonly quota: Quota | null;
  readonly stop: StopReason | null;
  /** The agents in the order in which they were started. Ended ones are included, unless they were archived. */
  readonly agents: readonly Agent[];
  /** How many ended agents are only in the journal; null as long as the run has had too few to archive any. */
  readonly archive: { readonly ended: number } | null;
  /** True if agents may join their workers, as far as is known: then workers that ended stay until they were joined. */
  readonly joins: boolean;
  /** The tools that a person has permitted for the rest of the run. */
  readonly grants: Grants;
}

/** Creates a run before its first step, with the agent `main` about to enter the workflow. */
export function newRun(
  start: Pick<Run, 'id' | 'workflow' | 'startedAt' | 'options'> & {
    readonly name?: string;
    readonly workFolders?: WorkFolders;
    readonly attended?: boolean;
    readonly joins?: boolean;
    readonly code?: PinnedCode;
  } & Pick<Position, 'state' | 'cwd' | 'input'>,
): Run {
  const { id, workflow, name = workflow.name, startedAt, options, state, cwd, input } = start;
  const { workFolders = null, joins = false, code = null } = start;
  return {
    version: RUN_VERSION,
    id,
    name,
    status: 'running',
    workflow,
    workflows: {},
    code,
    startFolder: cwd,
    workFolders,
    workspace: options.workspace === null ? null : { kind: 'wanted', place: null },
    startedAt,
    attended: start.attended ?? false,
    options: mergeOptions(options, {}),
    seq: 0,
    iterations: 0,
    ledger: EMPTY_LEDGER,
    hold: null,
    quota: null,
    stop: null,
    agents: [
      newAgent({ id: 'main', parent: null, state, cwd, input, model: null, effort: null, variables: {}, since: 0 }),
    ],
    archive: null,
    joins,
    grants: NO_GRANTS,
  };
}

/**
 * The costs of a run. The state file of an older Raymond does not say which of them are canned: there the backend tells.
 */
export function ledgerOf({ ledger, options }: Pick<Run, 'ledger' | 'options'>): Ledger {
  const isOldReplay = ledger.cannedMicros === 0 && isReplay(options) && countTokens(ledger.tokens) === 0;
  return isOldReplay ? { ...ledger, cannedMicros: ledger.spentMicros } : ledger;
}

/** The agent with that id; throws if there is none. */
export function getAgent(run: Run, id: string): Agent {
  const agent = run.agents[indexOfAgent(run.agents, id)];
  if (agent === undefined) throw new Error(`run ${run.id} has no agent ${id}`);
  return agent;
}

/** The run with one agent replaced. */
export function withAgent(run: Run, agent: Agent): Run {
  return { ...run, agents: replaceAgent(run.agents, indexOfAgent(run.agents, agent.id), agent) };
}

/** The run with several agents replaced. */
export function withAgents(run: Run, agents: readonly Agent[]): Run {
  return { ...run, agents: replaceAgents(run.agents, agents) };
}
