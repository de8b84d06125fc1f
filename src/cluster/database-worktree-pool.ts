import { readArchivedAgents } from '../app/status.ts';
import { discardSignal, isUnfinishedError, type WorktreePool } from '../app/worktrees/worktree-pool.ts';
import type { WorktreeObserver } from '../app/worktrees/worktrees.ts';
import type { Agent } from '../core/run/agent.ts';
import { archivedCount } from '../core/run/archive.ts';
import { withChange } from '../core/run/change.ts';
import type { Run } from '../core/run/run.ts';
import { step } from '../core/step.ts';
import type { FoundWorktree } from '../render/found-worktree.ts';
import type { Database } from '../storage/postgres/database.ts';
import { createDatabaseLeases } from '../storage/postgres/lease.ts';
import type { RunStorage } from '../storage/storage.ts';
import { askWorkers, type WorktreeRequest } from './worktree-requests.ts';

/** The worktrees on the workers of a database. Those of a worker that does not answer are as their agents left them. */
export function createDatabaseWorktreePool(database: Database, storage: RunStorage): WorktreePool {
  const remove = async (
    action: 'prune' | 'discard',
    worktrees: readonly FoundWorktree[],
    observe: WorktreeObserver,
  ): Promise<readonly FoundWorktree[]> => {
    const paths = worktrees.map(({ path }) => path);
    const workers = [...new Set(worktrees.flatMap(({ worker }) => worker ?? []))];
    const answers = await askWorkers(database, { action, paths }, workers);
    return worktrees.filter((worktree) => {
      const { worker = '', path } = worktree;
      const ends = answers.get(worker)?.ends;
      const problem = ends === undefined ? `its worker ${worker} does not answer` : (ends[path] ?? null);
      const isMissing = ends !== undefined && !(path in ends);
      observe(worktree, isMissing ? 'it is not there any more' : problem);
      return problem === null && !isMissing;
    });
  };
  return {
    find: () => findOnWorkers(database, storage, { action: 'find' }),
    async findOfRun(run) {
      // A run that was removed is known to workers only.
      const id = await storage.runs.resolve(run).catch(() => run);
      return findOnWorkers(database, storage, { action: 'find', run: id, names: true });
    },
    findRecorded: (run) => findDatabaseWorktrees(storage, run),
    findOfEnded: (run) => findOnWorkers(database, storage, { action: 'find', run, isOver: true }),
    // The nodes remove what is left of a run with its files.
    leave: async () => async () => {},
    async prune(worktrees, observe) {
      await remove(
        'prune',
        worktrees.filter(({ holds }) => holds === 'nothing'),
        observe,
      );
    },
    async discard(worktrees, observe) {
      const [first] = worktrees;
      if (first === undefined) return;
      const [row] = await database.query<{ status: string }>('select status from raymond.runs where id = $1', [
        first.run,
      ]);
      if (row?.status === 'running') throw isUnfinishedError(first.run);
      const gone = await remove('discard', worktrees, observe);
      if (row !== undefined && gone.length > 0) await record(database, first.run, gone);
    },
  };
}

/** Finds worktrees where they are. */
async function findOnWorkers(
  database: Database,
  storage: RunStorage,
  request: Extract<WorktreeRequest, { action: 'find' }>,
): Promise<readonly FoundWorktree[]> {
  const answers = await askWorkers(database, request);
  const found = [...answers].flatMap(([worker, { worktrees }]) => worktrees.map((each) => ({ ...each, worker })));
  const isKnown =
    request.run === undefined || (await storage.runs.resolve(request.run).catch(() => null)) === request.run;
  const recorded = isKnown ? await findDatabaseWorktrees(storage, request.run) : [];
  const silent = recorded.filter(({ worker }) => worker === undefined || !answers.has(worker));
  return [...found, ...silent].toSorted((a, b) => compare(a.run, b.run) || compare(a.agent, b.agent));
}

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

/** Notes in a run that is at rest that its worktrees were discarded. */
async function record(database: Database, id: string, worktrees: readonly FoundWorktree[]): Promise<void> {
  const lease = await createDatabaseLeases(database).acquire(id);
  const { run: before } = lease;
  if (before.status !== 'running')
    await lease.append([withChange(before, step(before, discardSignal(worktrees, database.clock.now())))]);
  await lease.release();
}

/** The worktrees of the runs of a database, or of one run, as their agents left them. They are on the workers. */
async function findDatabaseWorktrees({ runs, journal }: RunStorage, run?: string): Promise<readonly FoundWorktree[]> {
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
