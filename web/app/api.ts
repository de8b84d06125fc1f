/** A refusal of the server, with what to do about it. */
export class ApiError extends Error {
  readonly status: number;
  readonly hint: string | undefined;

  constructor(status: number, detail: string, hint?: string) {
    super(detail);
    this.status = status;
    this.hint = hint;
  }
}

/** The tokens of turns. */
export interface Tokens {
  readonly input: number;
  readonly output: number;
  readonly cache_read: number;
  readonly cache_creation: number;
}

/** A run in the list. */
export interface ListedRun {
  readonly project: string;
  readonly run_id: string;
  readonly name?: string;
  readonly workflow?: string;
  readonly status: string;
  readonly started_at?: string;
  readonly cost_usd?: number;
  readonly canned_usd?: number;
  readonly tokens?: Tokens;
  readonly agent_counts?: { readonly live: number; readonly ended: number; readonly failed: number };
  readonly needs_you: boolean;
  readonly error?: string;
  readonly damage?: readonly string[];
}

/** An agent of a run. */
export interface AgentStatus {
  readonly id: string;
  readonly label: string;
  readonly parent: string | null;
  readonly status: string;
  readonly state: string;
  readonly since: string | null;
  readonly until: string | null;
  readonly result: string | null;
  readonly error: string | null;
  readonly turns: number;
  readonly cost_usd: number;
  readonly worktree: AgentWorktree | null;
}

/** The git worktree of an agent; what it held is known when the agent has left it. */
export interface AgentWorktree {
  readonly path: string;
  readonly branch: string;
  readonly kept: boolean | null;
  readonly commits: number | null;
  readonly dirty: boolean | null;
}

/** Something odd that happened in a run. */
export interface RunWarning {
  readonly kind: string;
  readonly state: string;
  readonly message: string;
  readonly count: number;
}

/** How full the windows of a subscription are. */
export interface Quota {
  readonly windows: readonly { readonly type: string; readonly percent: number | null; readonly resets_at: string }[];
}

/** A run as a whole. */
export interface RunDetail extends ListedRun {
  readonly name: string;
  readonly workflow: string;
  readonly workflow_path: string;
  readonly started_at: string;
  readonly worked_ms: number;
  readonly cost_usd: number;
  readonly estimated_usd: number;
  readonly canned_usd: number;
  readonly tokens: Tokens;
  readonly budget_usd: number | null;
  /** How full the windows of the subscription are; missing in the answer of an older server. */
  readonly quota?: Quota | null;
  readonly seq: number;
  readonly agents: readonly AgentStatus[];
  readonly archived_agents: number;
  readonly warnings: readonly RunWarning[];
  /** Sentences; those about questions come last. */
  readonly waits_for: string;
  readonly questions: readonly { readonly ask_id: string; readonly label: string }[];
  readonly next: string | null;
}

/** A turn in the list of a run's turns. */
export interface ListedTurn {
  readonly started_seq: number;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly agent: string;
  readonly state: string;
  readonly turn: number;
  /** What it sends: the prompt of its state, or a reminder, … */
  readonly prompt: string;
  readonly evaluator?: string | null;
  readonly session_id: string | null;
  readonly cost_usd?: number;
  readonly estimated?: boolean;
  readonly canned?: boolean;
  readonly duration_ms?: number;
  readonly failure?: string | null;
  readonly denials?: readonly string[];
  readonly tokens?: Tokens;
}

/** A text of which a part may be left out. */
export interface PartialText {
  readonly text: string;
  readonly is_cut: boolean;
}

/** What Claude or a script said or did. */
export interface TurnEntry {
  readonly kind: string;
  readonly text?: string;
  readonly tool?: string;
  readonly detail?: string;
  readonly is_error?: boolean;
  readonly reason?: string;
}

/** One turn. */
export interface TurnDetail {
  /** The turn as it is in the list; null if its journal does not tell. */
  readonly record: ListedTurn | null;
  readonly prompt: PartialText | null;
  readonly answer: PartialText;
  readonly stderr: PartialText;
  readonly entries: readonly TurnEntry[];
  readonly entries_left_out: number;
  readonly changed_files: readonly string[];
}

/** An event of a run, as `--events` prints it. */
export interface RunEvent {
  readonly kind: string;
  readonly at: string;
  readonly agent?: string;
  readonly state?: string;
  readonly [field: string]: unknown;
}

/** A mistake in a workflow. */
interface Finding {
  readonly level: 'error' | 'warning' | 'info';
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A workflow that can be started. */
export interface WorkflowEntry {
  readonly id: string;
  readonly project: string;
  readonly path: string;
  readonly name: string;
  readonly title?: string | null;
  readonly description?: string | null;
  readonly input?: {
    readonly mode: 'required' | 'optional' | 'none';
    readonly label: string | null;
    readonly description: string | null;
  };
  readonly default_budget_usd?: number | null;
  readonly states?: readonly string[];
  readonly error: string | null;
  /** What lint says about it; only of a single workflow. */
  readonly findings?: readonly Finding[];
}

/** A row of costs. */
export interface CostRow {
  readonly key: string;
  readonly runs: number;
  readonly turns: number;
  readonly paid_usd: number;
  readonly estimated_usd: number;
  readonly canned_usd: number;
  readonly tokens: Tokens;
}

/** Asks the server for data. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return read<T>(await fetch(`/api${path}`, signal === undefined ? {} : { signal }));
}

/** Asks the server to do something. */
export async function send<T>(method: 'POST' | 'DELETE', path: string, body: object = {}): Promise<T> {
  const headers = { 'content-type': 'application/json' };
  return read<T>(
    await fetch(`/api${path}`, { method, headers, ...(method === 'POST' && { body: JSON.stringify(body) }) }),
  );
}

/** The data of a response; throws what the server refuses. */
export async function read<T>(response: Response): Promise<T> {
  const data = (await response.json().catch(() => ({}))) as T & { detail?: string; hint?: string };
  if (response.ok) return data;
  throw new ApiError(response.status, data.detail ?? `The server answered ${response.status}.`, data.hint);
}

/** The address of a run in the API. */
export const runPath = (project: string, run: string): string =>
  `/runs/${encodeURIComponent(project)}/${encodeURIComponent(run)}`;
