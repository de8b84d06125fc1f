/** The git worktree of an agent: wanted, there, or over and removed unless it holds something new. */
export type Worktree =
  | { readonly kind: 'wanted' }
  | ({ readonly kind: 'made' } & WorktreePlace)
  | ({ readonly kind: 'closed' } & WorktreePlace & WorktreeContent);

/** Where a worktree is, and what it was made from. */
export interface WorktreePlace {
  readonly path: string;
  readonly branch: string;
  /** The commit that it was made from. */
  readonly base: string;
  /** The folder in which git keeps what all worktrees of the repository share. */
  readonly repository: string;
  /** The repository that its branch is pushed to when it is left; absent if it is not pushed. */
  readonly remote?: string;
}

/** The new work in a worktree. */
export interface WorktreeContent {
  /** True if it is still there; otherwise it held nothing new. */
  readonly kept: boolean;
  readonly commits: number;
  /** True if files in it are changed or new, and not committed. */
  readonly dirty: boolean;
  /** True if its commits are in the repository that they are to be pushed to; absent if it is not pushed. */
  readonly pushed?: boolean;
  /** Set if a person removed it on purpose, with the work that it held. */
  readonly discarded?: true;
}

/** Describes the work in a worktree: `2 commits and uncommitted changes`. */
export function formatWorktreeContent({ commits, dirty }: Pick<WorktreeContent, 'commits' | 'dirty'>): string {
  const counted = commits === 1 ? '1 commit' : `${commits} commits`;
  if (!dirty) return counted;
  return commits === 0 ? 'uncommitted changes' : `${counted} and uncommitted changes`;
}

/** The place of a worktree that is there, or was. */
export function placeOf(worktree: Worktree | null): WorktreePlace | null {
  if (worktree === null || worktree.kind === 'wanted') return null;
  const { path, branch, base, repository, remote } = worktree;
  return { path, branch, base, repository, ...(remote !== undefined && { remote }) };
}
