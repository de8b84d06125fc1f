import type { Agent } from '../run/agent.ts';
import { getAgent, type Run } from '../run/run.ts';
import { deriveAgentsStatus, isLeavingWorkspace } from '../run/status.ts';
import { parseWorkspace, WORKSPACE, type WorkspacePlace, type WorkspaceSource } from '../run/workspace.ts';
import { placeOf, type WorktreePlace } from '../run/worktree.ts';

/** A turn about an agent's git worktree. It can be taken again at any time, so it needs no record. */
export interface WorktreeTurn extends Pick<Agent, 'node'> {
  readonly kind: 'worktree';
  readonly agent: string;
  readonly state: string;
  /** True if it is wanted; if not, it is closed, or what is half made of it is removed. */
  readonly isWanted: boolean;
  /** Where it is, or was before the agent continues in it; null if it has not been made yet. */
  readonly place: WorktreePlace | null;
  /** The folder that it is made from: that of the parent. Once it is made, the folder of the agent. */
  readonly cwd: string;
  /** The clone that the run works in; absent if it has none. */
  readonly workspace?: WorkspacePlace;
  /** The work to do if the agent runs on another machine than this folder; absent if it does not. */
  readonly transfer?: WorktreeTransfer;
}

/** A commit that was pushed as the branch of an agent: the repository, and the folder in it that the agent is to work in. */
export interface PublishedCommit {
  readonly base: string;
  readonly remote: string;
  readonly prefix: string;
}

/** A part of a turn about a worktree on another machine: the commit is published, or that is cloned, or the clone removed. */
export type WorktreeTransfer = { readonly kind: 'publish' } | ({ readonly kind: 'clone' } & PublishedCommit);

/** A turn about the clone that the agents of a run work in. It can be taken again at any time, so it needs no record. */
export interface WorkspaceTurn extends Pick<Agent, 'node'> {
  readonly kind: 'workspace';
  /** Stands in for an agent: it is about all of them. */
  readonly agent: typeof WORKSPACE;
  /** True if it is wanted; if not, the run has come to rest and it is left. */
  readonly isWanted: boolean;
  readonly source: WorkspaceSource;
  /** Null if it has not been made yet. */
  readonly place: WorkspacePlace | null;
  /** True if the run is completed, so that nobody needs the clone any more once all is pushed. */
  readonly isOver: boolean;
}

/** The pending operation on a run's clone; null if there is none. */
export function workspaceTurnOf(run: Run): WorkspaceTurn | null {
  const { workspace, options } = run;
  if (workspace === null) return null;
  const isWanted = !isLeavingWorkspace(run);
  if (isWanted && (workspace.kind !== 'wanted' || run.stop !== null || run.status !== 'running')) return null;
  const { place } = workspace;
  const source = parseWorkspace(options.workspace ?? place?.remote ?? '');
  const isOver = !isWanted && deriveAgentsStatus(run) === 'completed';
  // It is where the main agent is at home.
  const { node } = getAgent(run, 'main');
  return { kind: 'workspace', agent: WORKSPACE, isWanted, source, place, isOver, node };
}

/** The pending operation on an agent's worktree. */
export const worktreeTurnOf = (
  { id, state, worktree, cwd, node }: Agent,
  { workspace }: Run,
  isWanted: boolean,
): WorktreeTurn => ({
  kind: 'worktree',
  agent: id,
  state,
  isWanted,
  place: placeOf(worktree),
  cwd,
  node,
  ...(workspace !== null && workspace.place !== null && { workspace: workspace.place }),
});
