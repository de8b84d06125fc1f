import type { WorktreeTurn } from '../core/due.ts';
import type { WorktreeClosed, WorktreeMade, WorktreeRefused } from '../core/signal.ts';
import { MARKER_VARIABLE } from '../process/command.ts';
import { END_GRACE_MS, endMarked } from '../process/end.ts';
import type { GitOptions } from './git.ts';
import { ensureSandboxRepository } from './sandbox-repository.ts';
import type { TurnContext } from './turn-context.ts';
import { branchOf, closeWorktree, discardWorktree, makeWorktree, reopenWorktree } from './worktree.ts';

type WorktreeSignal = WorktreeMade | WorktreeRefused | WorktreeClosed;

/** Takes a turn about a worktree, unless it is to end before it has begun; null if it was ended. */
type WorktreeRunner = (turn: WorktreeTurn, end: AbortSignal) => Promise<WorktreeSignal | null>;

/**
 * Creates what takes the turns about worktrees of a run. They are taken one after the other: git processes that make
 * worktrees of one repository at the same time trip over what the others have half made.
 */
export function createWorktreeRunner(context: TurnContext): WorktreeRunner {
  let last: Promise<unknown> | null = null;
  return (turn, end) => {
    last ??= endOrphans(context);
    const taken = last.then(() => (end.aborted ? null : takeWorktreeTurn(context, turn, end)));
    last = taken.catch(() => {});
    return taken;
  };
}

/** The marker of git at work on the worktree of an agent. No agent is called `worktree`. */
const worktreeMarker = ({ runMarker }: TurnContext, agent: string): string => `${runMarker}/worktree/${agent}`;

/** Ends what git processes of an earlier process of the run are still at: it is done again. */
async function endOrphans(context: TurnContext): Promise<void> {
  if (context.isResumed) await endMarked(worktreeMarker(context, ''), { graceMs: END_GRACE_MS });
}

/** Makes or opens the worktree of a worker, or looks at what it has left in it. It may be done again after a crash at any instant. */
async function takeWorktreeTurn(
  context: TurnContext,
  { agent, cwd, place, isWanted }: WorktreeTurn,
  end: AbortSignal,
): Promise<WorktreeSignal | null> {
  const { clock, runId, env } = context;
  const options: GitOptions = { env: { ...env, [MARKER_VARIABLE]: worktreeMarker(context, agent) }, signal: end };
  const wanted = { path: context.worktreeFolder(agent), branch: branchOf(runId, agent), cwd };
  if (isWanted) {
    if (context.isSandbox) await ensureSandboxRepository(context.startFolder, options);
    const made = await (place === null ? makeWorktree(wanted, options) : reopenWorktree(place, options));
    if (end.aborted) return null;
    const base = { at: clock.now(), agent };
    return 'message' in made
      ? { kind: 'worktree_refused', ...base, ...made }
      : { kind: 'worktree_made', ...base, ...made };
  }
  if (place === null) await discardWorktree(wanted, options);
  const closed = place === null ? { content: NOTHING_LEFT } : await closeWorktree(place, options);
  return end.aborted ? null : { kind: 'worktree_closed', at: clock.now(), agent, ...closed };
}

const NOTHING_LEFT = { kept: false, commits: 0, dirty: false };
