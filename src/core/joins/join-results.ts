import { type Agent, type DonePhase, isDonePhase } from '../run/agent.ts';
import { microsToUsd } from '../run/ledger.ts';
import type { Run } from '../run/run.ts';
import { workFoldersOf } from '../run/work-folders.ts';
import { formatWorktreeContent, type WorktreeContent, type WorktreePlace } from '../run/worktree.ts';

/** The outcome of a worker, as an element of the results file. */
export interface WorkerResult {
  readonly agent: string;
  readonly state: string;
  readonly status: DonePhase['kind'];
  readonly variables: Readonly<Record<string, string>>;
  readonly result: string | null;
  readonly error: string | null;
  readonly cost_usd: number;
  /** The work left in its own worktree, if it had one. The folder is null if it was removed, and so is the branch unless it was pushed. */
  readonly branch?: string | null;
  readonly worktree?: string | null;
  readonly commits?: number;
  readonly dirty?: boolean;
  /** The repository that the branch was pushed to; null if it was not. Only in runs that work in a clone. */
  readonly remote?: string | null;
}

/** The results that a join passes on, in the order of the forks, and the file for them. */
export interface JoinResults {
  readonly workers: readonly WorkerResult[];
  /** Null as long as the run of an older state file has no folders. */
  readonly file: string | null;
}

/** The results that an agent has in hand; null if it does not come from a join. */
export function resultsOf(run: Run, agent: Agent): JoinResults | null {
  const { id, results } = agent;
  if (results === null) return null;
  const workers = run.agents.flatMap((worker) =>
    worker.parent === id && worker.joinedBy === results && isDonePhase(worker.phase)
      ? [toResult(worker, worker.phase)]
      : [],
  );
  const { runFolder } = workFoldersOf(run, agent);
  return { workers, file: runFolder === null ? null : `${runFolder}/results/${id}-${results}.json` };
}

function toResult({ id, state, variables, costMicros, worktree }: Agent, phase: DonePhase): WorkerResult {
  const error = errorOf(phase);
  const result = phase.kind === 'ended' ? phase.result : null;
  return {
    agent: id,
    state,
    status: phase.kind,
    variables,
    result,
    error,
    cost_usd: microsToUsd(costMicros),
    ...(worktree?.kind === 'closed' && toLeftWorktree(worktree)),
  };
}

const toLeftWorktree = ({ path, branch, remote, kept, commits, dirty, pushed }: WorktreePlace & WorktreeContent) => {
  const isPushed = pushed === true && commits > 0;
  return {
    branch: kept || isPushed ? branch : null,
    worktree: kept ? path : null,
    commits,
    dirty,
    ...(remote !== undefined && { remote: isPushed ? remote : null }),
  };
};

function errorOf(phase: DonePhase): string | null {
  switch (phase.kind) {
    case 'ended':
      return null;
    case 'failed':
      return phase.message;
    case 'limited':
      return `it has entered its state ${phase.maxVisits} ${phase.maxVisits === 1 ? 'time' : 'times'}, as often as \`max_visits\` permits`;
    case 'cancelled':
      return `the join of ${phase.by} did not need it any more`;
  }
}

/** How much of one result, and of all of them together, stands in a prompt; the file has all of it. */
const MAX_RESULT_CHARS = 2_000;
const MAX_LIST_CHARS = 50_000;

/** Lists the results for a prompt. */
export function formatJoinResults({ workers, file }: JoinResults): string {
  if (workers.length === 0) return 'No worker was joined.';
  const lines: string[] = [];
  let length = 0;
  for (const [index, worker] of workers.entries()) {
    if (length > MAX_LIST_CHARS) {
      lines.push(`… and ${workers.length - index} more${file === null ? '' : `: see ${file}`}`);
      break;
    }
    const text = formatResult(worker);
    length += text.length;
    lines.push(text);
  }
  return lines.join('\n');
}

function formatResult({ agent, status, variables, result, error, ...left }: WorkerResult): string {
  const [first] = Object.entries(variables);
  const label = first === undefined ? agent : `${agent} ${first[0]}=${first[1]}`;
  const text = result ?? error ?? '';
  const shown =
    text.length > MAX_RESULT_CHARS
      ? `${text.slice(0, MAX_RESULT_CHARS)}… (${text.length - MAX_RESULT_CHARS} more characters)`
      : text;
  const indented = shown === '' ? '' : `\n${shown.replace(/^/gm, '  ')}`;
  const { branch, worktree, remote, commits = 0, dirty = false } = left;
  const places = [
    ...(worktree == null ? [] : [` in ${worktree}`]),
    ...(remote == null ? [] : [`, pushed to ${remote}`]),
  ];
  const where =
    branch == null
      ? ''
      : `, left ${formatWorktreeContent({ commits, dirty })} on the branch ${branch}${places.join('')}`;
  return `- ${label}: ${status}${where}${indented}`;
}
