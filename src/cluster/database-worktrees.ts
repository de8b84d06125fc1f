import { readArchivedAgents } from '../app/archived-agents.ts';
import type { Agent } from '../core/run/agent.ts';
import { archivedCount } from '../core/run/archive.ts';
import type { Run } from '../core/run/run.ts';
import type { FoundWorktree } from '../render/found-worktree.ts';
import type { RunStorage } from '../storage/storage.ts';

/** The worktrees of the runs of a database, or of one run, as their agents left them. They are on the workers. */
export async function findDatabaseWorktrees(
  { runs, journal }: RunStorage,
  run?: string,
): Promise<readonly FoundWorktree[]> {
  const listed =
    run === undefined ? (await runs.list('summaries')).filter(({ kind }) => kind === 'run') : [{ id: run }];
  const found: FoundWorktree[] = [];
  for (const { id } of listed) {
    const { run: observed } = await runs.observe(id);
    const archived = archivedCount(observed) === 0 ? [] : await readArchivedAgents(journal, id, observed.seq);
    for (const agent of [...archived, ...observed.agents]) found.push(...toFound(id, agent));
    found.push(...toFoundClone(observed));
  }
  return found;
}

function toFound(run: string, { id, worktree, node: home }: Agent): readonly FoundWorktree[] {
  if (worktree === null || worktree.kind === 'wanted') return [];
  const { path, branch } = worktree;
  const place = { run, agent: id, path, branch, problem: null, ...(home !== null && { worker: home }) };
  if (worktree.kind === 'made') return [{ ...place, holds: 'in_use', commits: 0, dirty: false }];
  const { kept, commits, dirty } = worktree;
  return kept ? [{ ...place, holds: 'work', commits, dirty }] : [];
}

/** The clone that the agents of a run work in, as it was when the run came to rest. */
function toFoundClone({ id: run, workspace, agents }: Run): readonly FoundWorktree[] {
  if (workspace === null || workspace.place === null) return [];
  const { path, branch } = workspace.place;
  const home = agents.find(({ id }) => id === 'main')?.node ?? null;
  const place = { run, agent: 'main', path, branch, problem: null, ...(home !== null && { worker: home }) };
  if (workspace.kind !== 'left') return [{ ...place, holds: 'in_use', commits: 0, dirty: false }];
  const { kept, commits, dirty } = workspace.content;
  return kept ? [{ ...place, holds: 'work', commits, dirty }] : [];
}
