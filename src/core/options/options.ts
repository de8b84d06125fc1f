import {
  EFFORTS,
  findEffortProblem,
  findModelProblem,
  findPermissionModeProblem,
  NARROW_PERMISSION_MODES,
  normalizeModel,
  PERMISSION_MODES,
} from '../../language/claude-values.ts';
import { WORKSPACE_OPTION } from '../run/workspace.ts';
import { ALLOW_CD_OPTION, SNAPSHOTS_OPTION, TASK_FOLDER_OPTION, WORKTREE_DIR_OPTION } from './folder-options.ts';
import {
  KEEP_OPEN_OPTION,
  MAX_WAIT_OPTION,
  NOTIFY_OPTION,
  ON_ASK_OPTION,
  PERCENT,
  RESERVE_OPTION,
  SLOW_AT_OPTION,
  TIMEOUT_OPTION,
  WHEN_LOST_OPTION,
} from './option-rows.ts';
import {
  BACKEND,
  BOOLEAN,
  COUNT,
  choice,
  DOLLARS,
  knownWord,
  LIMIT,
  OPTIONAL_TEXT,
  type OptionRow,
  optionalKnownWord,
  optionalWord,
  VARIABLES,
} from './option-types.ts';
import {
  SANDBOX_ENV_OPTION,
  SANDBOX_HOSTS_OPTION,
  SANDBOX_OPTION,
  SANDBOX_READ_OPTION,
  SANDBOX_WRITE_OPTION,
  SANDBOXED_MODE,
  USUAL_MODE,
} from './sandbox-options.ts';

/** Checks a row, and keeps the type of its values. */
const option = <Kept>(row: OptionRow<Kept>): OptionRow<Kept> => row;

/**
 * Every option of a run. A run remembers all of them, and a resume may change each. The flags of `run` and `resume` with
 * their help, config.toml with its template and schema, `raymond config`, the options of scenarios, the schema of the
 * state file and what `logs` shows of a change are derived from this table: a new option is a row here.
 */
export const OPTION_TABLE = {
  /** Variables for every prompt and script. */
  variables: option({
    key: 'var',
    type: VARIABLES,
    default: {},
    argument: '<name=value>',
    config: false,
    help: 'set a variable for every prompt and script; may be repeated',
  }),
  /** Micro-dollars the run may spend; null for no limit. */
  budgetMicros: option({
    key: 'budget',
    type: DOLLARS,
    default: 10_000_000,
    argument: '<usd>',
    scenario: 'recorded',
    help: 'stop after spending this many dollars; 0 for no limit',
  }),
  /** Executions of states before the run stops; null for no limit. */
  maxIterations: option({
    key: 'max_iterations',
    type: LIMIT,
    default: null,
    argument: '<n>',
    scenario: 'recorded',
    help: 'stop after this many executions of states; 0 for no limit',
  }),
  /** The model where neither a tag nor the state names one; null leaves it to Claude Code. */
  model: option({
    key: 'model',
    type: optionalWord(normalizeModel, findModelProblem),
    default: null,
    whenOmitted: 'chosen by Claude Code',
    example: 'sonnet',
    argument: '<name>',
    help: 'the model where neither a tag nor the state names one: opus, sonnet, haiku or a full name',
  }),
  /** The effort where neither a tag nor the state names one; null leaves it to Claude Code. */
  effort: option({
    key: 'effort',
    type: optionalKnownWord(EFFORTS, findEffortProblem),
    default: null,
    whenOmitted: 'chosen by Claude Code',
    example: 'medium',
    argument: '<level>',
    help: 'how hard Claude thinks where neither a tag nor the state says: low, medium, high, xhigh or max',
  }),
  /** Milliseconds that a turn may be silent if its state sets no limit; 0 forever, null for the default of its kind. */
  timeoutMs: TIMEOUT_OPTION,
  /** Milliseconds for which a conversation without a turn stays open; 0 for none. */
  keepOpenMs: KEEP_OPEN_OPTION,
  /** Claude turns at once; null for no limit. */
  parallel: option({
    key: 'parallel',
    type: LIMIT,
    default: 8,
    argument: '<n>',
    scenario: 'recorded',
    help: 'run at most this many Claude turns at once; 0 for no limit',
  }),
  /** Scripts at once; null for no limit. */
  parallelScripts: option({
    key: 'parallel_scripts',
    type: LIMIT,
    default: 256,
    argument: '<n>',
    scenario: 'recorded',
    help: 'run at most this many scripts at once; 0 for no limit',
  }),
  /** Workers that one answer may start; null for no limit. */
  maxForks: option({
    key: 'max_forks',
    type: LIMIT,
    default: 1_000,
    argument: '<n>',
    scenario: 'recorded',
    help: 'refuse an answer that starts more workers than this; 0 for no limit',
  }),
  /** Workflows that may be nested in each other; null for no limit. */
  maxDepth: option({
    key: 'max_depth',
    type: LIMIT,
    default: 8,
    argument: '<n>',
    scenario: 'recorded',
    help: 'how many workflows may be nested in each other by calls and forks; 0 for no limit',
  }),
  /** The folder outside of which no other workflow is opened; null for the usual one. */
  root: option({
    key: 'root',
    type: OPTIONAL_TEXT,
    default: null,
    whenOmitted: 'the git root, else the folder above the workflow',
    example: '..',
    argument: '<dir>',
    config: false,
    help: 'the folder outside of which no other workflow may be called',
  }),
  /** Reminders of its tags that a state gets. */
  reminders: option({
    key: 'reminders',
    type: COUNT,
    default: 3,
    scenario: 'recorded',
    help: 'how often a state is reminded of its tags when its answer has none that fits',
  }),
  /** Retries of a turn after temporary failures. */
  retries: option({
    key: 'retries',
    type: COUNT,
    default: 3,
    argument: '<n>',
    scenario: 'recorded',
    help: 'how often to retry a turn that failed for a temporary reason',
  }),
  /** True to sleep through usage limits, false to pause the run. */
  wait: option({
    key: 'wait',
    type: BOOLEAN,
    default: true,
    argument: '',
    negation: 'pause the run at a usage limit instead',
    scenario: 'recorded',
    help: 'sleep through usage limits until they are over',
  }),
  /** Milliseconds that a run sleeps at most through a usage limit; 0 for any time. */
  maxWaitMs: MAX_WAIT_OPTION,
  slowAt: SLOW_AT_OPTION,
  reserve: RESERVE_OPTION,
  /** How a run handles a question; null to wait only where somebody watches. */
  onAsk: ON_ASK_OPTION,
  notify: NOTIFY_OPTION,
  /** The fate of an agent whose node is gone, in a run on several machines. */
  whenLost: WHEN_LOST_OPTION,
  /** The effect of `<reset>` without a `stack` attribute on the callers. */
  resetStack: option({
    key: 'reset_stack',
    type: choice('keep', 'clear'),
    default: 'keep',
    scenario: 'recorded',
    help: 'what a <reset> does to the callers: "keep" them, or "clear" them unless it says stack="keep"',
  }),
  /** The permission mode of Claude Code, if the state sets none; null for the usual one. */
  permissionMode: option<string | null>({
    key: 'permission_mode',
    type: { ...knownWord(PERMISSION_MODES, findPermissionModeProblem), nullable: true },
    default: null,
    whenOmitted: `${USUAL_MODE}, in a sandbox ${SANDBOXED_MODE}`,
    example: USUAL_MODE,
    argument: '<mode>',
    trust: {
      effect: 'lets Claude Code do more than the default mode',
      isNeededFor: (mode) => mode !== null && !NARROW_PERMISSION_MODES.includes(mode),
    },
    help: 'the permission mode where the state sets none: acceptEdits, plan or dontAsk; what needs approval is denied',
  }),
  /** Lets Claude Code do anything, whatever the mode. */
  skipPermissions: option({
    key: 'dangerously_skip_permissions',
    type: BOOLEAN,
    default: false,
    argument: '',
    trust: { effect: 'lets Claude Code do anything without asking', isNeededFor: (skips) => skips },
    help: 'let Claude Code do anything without asking; only for machines you can afford to lose',
    negation: 'take that back',
  }),
  /** True to run turns in a sandbox, false to run none in one; null leaves it to the workflow. */
  sandbox: SANDBOX_OPTION,
  sandboxHosts: SANDBOX_HOSTS_OPTION,
  sandboxWrite: SANDBOX_WRITE_OPTION,
  sandboxRead: SANDBOX_READ_OPTION,
  sandboxEnv: SANDBOX_ENV_OPTION,
  /** Folders, as globs, to which the answers of prompts may change besides the usual ones. */
  allowCd: ALLOW_CD_OPTION,
  /** True if agents may change the files of the workflows that they run. */
  editWorkflows: option({
    key: 'edit_workflows',
    type: BOOLEAN,
    default: false,
    argument: '',
    help: 'let agents edit the files of the workflow that they run',
    negation: 'keep them from it',
    trust: { effect: 'lets agents change the workflow that they run', isNeededFor: (edits) => edits },
  }),
  workspace: WORKSPACE_OPTION,
  /** The folder below which the git worktrees of runs are made; null for the user's state folder. */
  worktreeDir: WORKTREE_DIR_OPTION,
  /** The folder of each task, from the folder that holds `.raymond` on. */
  taskFolderPattern: TASK_FOLDER_OPTION,
  /** True to keep the files of working folders around prompts; null for yes, unless answers are canned. */
  snapshots: SNAPSHOTS_OPTION,
  /** True to keep the files of finished turns. */
  debug: option({
    key: 'debug',
    type: BOOLEAN,
    default: true,
    argument: '',
    negation: 'do not keep them',
    help: 'keep the files of finished turns: what was sent and what came back',
  }),
  /** The backend that answers prompts: `claude`, or `replay:FILE` for canned answers. */
  agent: option({
    key: 'agent',
    type: BACKEND,
    default: 'claude',
    argument: '<who>',
    config: false,
    help: 'who answers prompts: claude, or replay:FILE for canned answers',
  }),
  /** The `claude` to use; null for the one on the PATH. */
  claude: option({
    key: 'claude',
    type: OPTIONAL_TEXT,
    default: null,
    whenOmitted: 'the one on the PATH',
    example: '/usr/local/bin/claude',
    argument: '<path>',
    trust: { effect: 'runs this program as Claude Code', isNeededFor: (program) => program !== null },
    help: 'the claude to use: a path, or a name on the PATH',
  }),
};

type KeptBy<Row> = Row extends OptionRow<infer Kept> ? Kept : never;

/** The options of a run, as the run remembers them. `null` means: no such limit, or nothing was chosen. */
export type Options = { readonly [Name in keyof typeof OPTION_TABLE]: KeptBy<(typeof OPTION_TABLE)[Name]> };

/** The name of an option in a run. */
export type OptionName = keyof Options;

/** A row of the table together with the option's name in a run. */
export type Option = OptionRow<Options[OptionName]> & { readonly name: OptionName };

/** The rows of the table, in its order. */
export const OPTIONS: readonly Option[] = (Object.keys(OPTION_TABLE) as OptionName[]).map((name) => ({
  ...OPTION_TABLE[name],
  name,
}));

/** The flag of an option; that of a switch may also stand with `--no-`. */
export const flagOf = ({ key, flag }: Pick<Option, 'key' | 'flag'>): string => flag ?? `--${key.replaceAll('_', '-')}`;

/** The options of a run for which nothing was chosen. */
export const DEFAULT_OPTIONS = Object.fromEntries(OPTIONS.map((row) => [row.name, row.default])) as Options;

/** Options with some of them changed; variables are changed one by one, hosts are added. A limit of nothing is no limit. */
export function mergeOptions(options: Options, changes: Partial<Options>): Options {
  const variables = { ...options.variables, ...changes.variables };
  const merged = { ...options, ...changes, variables, sandboxHosts: addHosts(options, changes) };
  const limits = ZERO_IS_NO_LIMIT.filter((name) => merged[name] === 0).map((name) => [name, null]);
  return { ...merged, ...Object.fromEntries(limits) };
}

const addHosts = (lower: Partial<Options>, upper: Partial<Options>): readonly string[] => [
  ...new Set([...(lower.sandboxHosts ?? []), ...(upper.sandboxHosts ?? [])]),
];

/**
 * Puts what one source of options says over what another says: variables one by one, and hosts after each other. To name a permission mode takes
 * back the permission for everything.
 */
export function overlayOptions(lower: Partial<Options>, upper: Partial<Options>): Partial<Options> {
  const takesBack = upper.permissionMode !== undefined && lower.skipPermissions === true;
  const variables = { ...lower.variables, ...upper.variables };
  const sandboxHosts = addHosts(lower, upper);
  return {
    ...lower,
    ...(takesBack && { skipPermissions: false }),
    ...upper,
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(sandboxHosts.length > 0 && { sandboxHosts }),
  };
}

const ZERO_IS_NO_LIMIT = OPTIONS.filter(({ type }) => [DOLLARS, LIMIT, PERCENT].some((each) => each === type)).map(
  ({ name }) => name,
);
