import type { Agent } from './agent.ts';
import { getAgent, type Run } from './run.ts';
import { deriveAgentsStatus, isLeavingWorkspace } from './status.ts';
import { parseWorkspace, WORKSPACE, type WorkspacePlace, type WorkspaceSource } from './workspace.ts';
import { placeOf, type WorktreePlace } from './worktree.ts';

/** A turn about an agent's git worktree. It can be taken again at any time, so it needs no record. */
export interface WorktreeTurn extends Pick<Agent, 'home'> {
  readonly kind: 'worktree';
  readonly agent: string;
  readonly state: string;
  /** Whether it is wanted; if not, it is closed, or what is half made of it is removed. */
  readonly isWanted: boolean;
  /** Where it is, or was before the agent goes on in it; null if it has not been made yet. */
  readonly place: WorktreePlace | null;
  /** The folder that it is made from: that of the parent. Once it is made, the folder of the agent. */
  readonly cwd: string;
  /** The clone that the run works in; absent if it has none. */
  readonly workspace?: WorkspacePlace;
  /** What is to be done if the agent works on another machine than that of this folder; absent if it does not. */
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
export interface WorkspaceTurn extends Pick<Agent, 'home'> {
  readonly kind: 'workspace';
  /** Stands in for an agent: it is about all of them. */
  readonly agent: typeof WORKSPACE;
  /** Whether it is wanted; if not, the run has come to rest and it is left. */
  readonly isWanted: boolean;
  readonly source: WorkspaceSource;
  /** Null if it has not been made yet. */
  readonly place: WorkspacePlace | null;
  /** Whether the run is completed, so that nobody needs the clone any more once all is pushed. */
  readonly isOver: boolean;
}

/** What is to be done about the clone of a run: null if it has none, or nothing is to be done about it. */
export function workspaceTurnOf(run: Run): WorkspaceTurn | null {
  const { workspace, options } = run;
  const isWanted = workspace?.kind === 'wanted';
  if (workspace === null || (isWanted ? run.stop !== null || run.status !== 'running' : !isLeavingWorkspace(run)))
    return null;
  const { place } = workspace;
  const source = parseWorkspace(options.workspace ?? place?.remote ?? '');
  const isOver = !isWanted && deriveAgentsStatus(run) === 'completed';
  // It is where the main agent is at home.
  const { home } = getAgent(run, 'main');
  return { kind: 'workspace', agent: WORKSPACE, isWanted, source, place, isOver, home };
}

/** What is to be done about the worktree of an agent. */
export const worktreeTurnOf = (
  { id, state, worktree, cwd, home }: Agent,
  { workspace }: Run,
  isWanted: boolean,
): WorktreeTurn => ({
  kind: 'worktree',
  agent: id,
  state,
  isWanted,
  place: placeOf(worktree),
  cwd,
  home,
  ...(workspace !== null && workspace.place !== null && { workspace: workspace.place }),
});
