import { formatWorktreeContent, type WorktreeContent } from '../core/run/worktree.ts';

/** A worktree of a worker that is on disk. */
export interface FoundWorktree extends Pick<WorktreeContent, 'commits' | 'dirty'> {
  readonly run: string;
  readonly agent: string;
  readonly path: string;
  /** The worker on which it is, of a run in a database; left out if it is here. */
  readonly worker?: string;
  readonly branch: string;
  /**
   * True if somebody works in it, or it holds `work`: changes that are not committed, or `commits` that no other branch or tag
   * has. Null if git cannot tell, for the reason `problem`.
   */
  readonly holds: 'in_use' | 'work' | 'nothing' | null;
  readonly problem: string | null;
  /** Its files and commits by name, on request. */
  readonly work?: { readonly files: readonly string[]; readonly commits: readonly string[] };
}

/** Describes the content of a worktree in a few words. */
export function describeFoundWorktree({ holds, commits, dirty, problem }: FoundWorktree): string {
  if (holds === 'in_use') return 'in use';
  if (holds === 'work') return formatWorktreeContent({ commits, dirty });
  return holds === 'nothing' ? 'nothing new' : `not known: ${problem}`;
}

const MAX_NAMED_WORKTREES = 5;

/** The worktrees left after a run, a line for each, and the command that helps; empty and null for none. */
export function describeLeftWorktrees(worktrees: readonly FoundWorktree[]): {
  readonly lines: readonly string[];
  readonly command: { readonly purpose: string; readonly command: string } | null;
} {
  const left = worktrees.filter(({ holds }) => holds === 'work' || holds === null);
  const lines = left
    .slice(0, MAX_NAMED_WORKTREES)
    .map((each) => `${each.agent} left ${describeFoundWorktree(each)} on ${each.branch}`);
  const more = left.length - lines.length;
  if (left.length > 0)
    return {
      lines: more === 0 ? lines : [...lines, `… and ${more} more`],
      command: { purpose: 'To list worktrees with work in them', command: 'raymond worktrees' },
    };
  const isEmptyLeft = worktrees.some(({ holds }) => holds === 'nothing');
  const command = { purpose: 'To remove worktrees that hold nothing new', command: 'raymond worktrees --prune --yes' };
  return { lines: [], command: isEmptyLeft ? command : null };
}
