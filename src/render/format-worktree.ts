import type { Run } from '../core/run/run.ts';
import type { WorktreeLeft } from '../core/run/worker-event.ts';
import type { WorkspaceLeftEvent } from '../core/run/workspace-event.ts';
import { formatWorktreeContent } from '../core/run/worktree.ts';

/** Describes in one line the work that a worker left on its branch; `raymond worktrees` has the folder. */
export function formatWorktreeLeft({ branch, kept, commits, dirty, remote, pushed }: WorktreeLeft): string {
  const isPushed = pushed === true && commits > 0;
  if (!kept && !isPushed) return 'leaves nothing new in its worktree, which is removed';
  return `leaves ${formatWorktreeContent({ commits, dirty })} on ${branch}${isPushed ? `, pushed to ${remote}` : ''}`;
}

/** The work that a run left in its clone, and its place. */
export function formatWorkspaceLeft({
  branch,
  path,
  remote,
  kept,
  commits,
  dirty,
  pushed,
}: WorkspaceLeftEvent): string {
  const content = formatWorktreeContent({ commits, dirty });
  const what = commits === 0 && !dirty ? 'its clone holds nothing new' : `its clone holds ${content} on ${branch}`;
  const where = commits > 0 && pushed ? `, pushed to ${remote}` : '';
  return `${what}${where}; ${kept ? `it stays in ${path}` : 'it is removed'}`;
}

/** Where the clone of a run is and what became of it, in one line; none if the run has no clone. */
export function describeWorkspace({ workspace, options }: Run): readonly string[] {
  if (workspace === null) return [];
  if (workspace.place === null) return [`of ${options.workspace}, not made yet`];
  const { path, branch, remote } = workspace.place;
  if (workspace.kind !== 'left') return [`of ${remote}, on the branch ${branch}, in ${path}`];
  const { kept, commits, dirty, pushed, discarded } = workspace.content;
  if (discarded) return [`of ${remote}: discarded, with the branch ${branch}`];
  const what = formatWorktreeContent({ commits, dirty });
  return [
    `of ${remote}: ${what} on the branch ${branch}${pushed ? '' : ', not pushed'}, ${kept ? `in ${path}` : 'removed'}`,
  ];
}
