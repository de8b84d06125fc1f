import type { WorktreePlace } from '../core/run/worktree.ts';
import type {
  WorkspaceLeft,
  WorkspaceSignal,
  WorktreeClosed,
  WorktreeMade,
  WorktreeRefused,
} from '../core/signals/signal.ts';
import type { WorkspaceTurn, WorktreeTurn } from '../core/turns/worktree-turns.ts';
import type { GitOptions } from '../git/git.ts';
import { leaveWorkspace } from '../git/leave-workspace.ts';
import { ensureSandboxRepository, openSandboxWorkspace } from '../git/sandbox-repository.ts';
import { openWorkspace } from '../git/workspace.ts';
import {
  branchOf,
  closeWorktree,
  discardWorktree,
  type MadeWorktree,
  makeWorktree,
  reopenWorktree,
  type WantedWorktree,
} from '../git/worktree.ts';
import {
  cloneCommit,
  closeClone,
  discardClone,
  isClone,
  publishCommit,
  reopenClone,
} from '../git/worktree-transfer.ts';
import { MARKER_VARIABLE } from '../process/command.ts';
import { END_GRACE_MS, endMarked } from '../process/end.ts';
import type { TurnContext } from './turn-context.ts';

type WorktreeSignal = WorktreeMade | WorktreeRefused | WorktreeClosed;

/** Takes a turn about a worktree or the clone of the run, unless it is to end before it has begun; null if it was ended. */
type WorktreeRunner = (
  turn: WorktreeTurn | WorkspaceTurn,
  end: AbortSignal,
) => Promise<WorktreeSignal | WorkspaceSignal | null>;

/**
 * Creates what takes the turns about worktrees of a run. They are taken one after the other: git processes that make
 * worktrees of one repository at the same time trip over what the others have half made.
 */
export function createWorktreeRunner(context: TurnContext): WorktreeRunner {
  let last: Promise<unknown> | null = null;
  return (turn, end) => {
    last ??= endOrphans(context);
    const taken = last.then((): Promise<WorktreeSignal | WorkspaceSignal | null> | null => {
      if (turn.kind === 'workspace') return takeWorkspaceTurn(context, turn, end);
      return end.aborted ? null : takeWorktreeTurn(context, turn, end);
    });
    last = taken.catch(() => {});
    return taken;
  };
}

/** The marker of git at work on the worktree of an agent. No agent is called `worktree`; several workers may share a machine. */
const worktreeMarker = ({ runMarker, home }: TurnContext, agent: string): string =>
  `${runMarker}/worktree/${home == null ? '' : `${home}/`}${agent}`;

/** The runs of others in which this process has ended the orphans: what is at work in them since then is its own. */
const clearedForGuests = new Set<string>();

/** Ends what git processes of an earlier process of the run are still at: it is done again. */
async function endOrphans(context: TurnContext): Promise<void> {
  const marker = worktreeMarker(context, '');
  if (!context.isResumed || (context.isGuest === true && clearedForGuests.has(marker))) return;
  if (context.isGuest === true) clearedForGuests.add(marker);
  await endMarked(marker, { graceMs: END_GRACE_MS });
}

/** Makes or opens the worktree of a worker, or looks at what it has left in it. It may be done again after a crash at any instant. */
async function takeWorktreeTurn(
  context: TurnContext,
  turn: WorktreeTurn,
  end: AbortSignal,
): Promise<WorktreeSignal | null> {
  const { clock, runId } = context;
  const { agent, cwd, place, isWanted, workspace, transfer } = turn;
  const options = gitOptions(context, agent, end);
  const wanted = { path: context.worktreeFolder(agent), branch: branchOf(runId, agent), cwd, workspace };
  if (isWanted) {
    if (context.isSandbox) await ensureSandboxRepository(context.startFolder, options);
    const made = await (place === null ? openNew(wanted, transfer, options) : openAgain(place, options));
    if (end.aborted) return null;
    const base = { at: clock.now(), agent };
    return 'message' in made
      ? { kind: 'worktree_refused', ...base, ...made }
      : { kind: 'worktree_made', ...base, ...made };
  }
  if (place === null) await (transfer === undefined ? discardWorktree(wanted, options) : discardClone(wanted, options));
  const closed = place === null ? { content: NOTHING_LEFT } : await close(place, options);
  return end.aborted ? null : { kind: 'worktree_closed', at: clock.now(), agent, ...closed };
}

function openNew(
  wanted: WantedWorktree,
  transfer: WorktreeTurn['transfer'],
  options: GitOptions,
): Promise<MadeWorktree> {
  if (transfer === undefined) return makeWorktree(wanted, options);
  return transfer.kind === 'publish' ? publishCommit(wanted, options) : cloneCommit(wanted, transfer, options);
}

const openAgain = (place: WorktreePlace, options: GitOptions): Promise<MadeWorktree> =>
  isClone(place) ? reopenClone(place, options) : reopenWorktree(place, options);

const close = (place: WorktreePlace, options: GitOptions) =>
  isClone(place) ? closeClone(place, options) : closeWorktree(place, options);

const gitOptions = (context: TurnContext, agent: string, signal: AbortSignal): GitOptions => ({
  env: { ...context.env, [MARKER_VARIABLE]: worktreeMarker(context, agent) },
  signal,
});

/** Makes or finds the clone of a run, or looks at what the run has left in it. It may be done again after a crash at any instant. */
async function takeWorkspaceTurn(
  context: TurnContext,
  { agent, isWanted, source, place, isOver }: WorkspaceTurn,
  end: AbortSignal,
): Promise<WorkspaceSignal | null> {
  const { clock, runId, isSandbox = false } = context;
  const options = gitOptions(context, agent, end);
  const wanted = { path: context.worktreeFolder(WORKSPACE_AGENT), branch: branchOf(runId, WORKSPACE_AGENT), source };
  if (isWanted) {
    if (end.aborted) return null;
    const sandbox = isSandbox ? await openSandboxWorkspace(context.startFolder, wanted.branch, place, options) : null;
    const made = sandbox ?? (await openWorkspace({ ...wanted, place }, options));
    if (end.aborted) return null;
    const at = clock.now();
    if (!('message' in made)) return { kind: 'workspace_made', at, ...made };
    return { kind: 'workspace_refused', at, message: `its workspace cannot be made: ${made.message}` };
  }
  if (place === null) throw new Error('a workspace that was never made cannot be left');
  if (end.aborted) return leftAtOnce(clock.now(), place.path);
  const { path, branch, remote } = place;
  const here = isSandbox ? { path, branch, source: { git: remote, ref: null } } : wanted;
  const left = await leaveWorkspace({ ...here, place }, isOver && !isSandbox, options);
  return end.aborted ? leftAtOnce(clock.now(), place.path) : { kind: 'workspace_left', at: clock.now(), ...left };
}

/** Ending everything at once leaves no time for a push. */
const leftAtOnce = (at: number, path: string): WorkspaceLeft => ({
  kind: 'workspace_left',
  at,
  content: { kept: true, commits: 0, dirty: false, pushed: false },
  problem: `there was no time to push. What was committed is in ${path}, and a resume pushes it`,
});

/** The agent after which the clone is called. */
const WORKSPACE_AGENT = 'main';

const NOTHING_LEFT = { kept: false, commits: 0, dirty: false };
