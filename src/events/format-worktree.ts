import type { Run } from '../core/run.ts';
import type { WorktreeLeft } from '../core/worker-event.ts';
import type { WorkspaceLeftEvent } from '../core/workspace-event.ts';
import { formatWorktreeContent } from '../core/worktree.ts';

/** What a worker has left in its worktree, and where. */
export function formatWorktreeLeft({ branch, path, kept, commits, dirty, remote, pushed }: WorktreeLeft): string {
  const content = formatWorktreeContent({ commits, dirty });
  const isPushed = pushed === true && commits > 0;
  if (isPushed) return `leaves ${content} on ${branch}, pushed to ${remote}${kept ? `, in ${path}` : ''}`;
  return kept ? `leaves ${content} on ${branch} in ${path}` : 'leaves nothing new in its worktree, which is removed';
}

/** What a run has left in its clone, and where. */
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
  const { kept, commits, dirty, pushed } = workspace.content;
  const what = formatWorktreeContent({ commits, dirty });
  return [
    `of ${remote}: ${what} on the branch ${branch}${pushed ? '' : ', not pushed'}, ${kept ? `in ${path}` : 'removed'}`,
  ];
}
