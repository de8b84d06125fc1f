import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { discardEach } from '../app/worktrees/worktree-pool.ts';
import { type FindUsers, findWorktrees, isWorkingIn, nameWork, pruneWorktrees } from '../app/worktrees/worktrees.ts';
import type { FolderLayout } from '../disk/layout.ts';
import { errorMessageOf } from '../errors.ts';
import type { FoundWorktree } from '../render/found-worktree.ts';
import { type Database, IS_ALIVE } from '../storage/postgres/database.ts';
import { loadRunRows } from '../storage/postgres/run-rows.ts';
import { ensureWorktreeRequests } from '../storage/postgres/schema.ts';

/*
 * Worktrees are on the disks of workers, even those of runs that are not in the database any more. A command that lists or removes them
 * writes a row for each live worker, and the worker writes its answer into that row.
 */

/** A request to a worker: to look, or to remove the worktrees with these paths. */
export type WorktreeRequest =
  /** Without a run, those of all runs; `isOver` if no agent will work in them any more, `names` to list files and commits. */
  | { readonly action: 'find'; readonly run?: string; readonly isOver?: boolean; readonly names?: boolean }
  | { readonly action: 'prune' | 'discard'; readonly paths: readonly string[] };

/** The worktrees of a worker, and the end of each that it should remove: null if it is gone, else the problem. */
export interface WorktreeAnswer {
  readonly worktrees: readonly FoundWorktree[];
  readonly ends: Readonly<Record<string, string | null>>;
}

const REQUEST: z.ZodType<WorktreeRequest> = z.union([
  z.object({
    action: z.literal('find'),
    run: z.string().exactOptional(),
    isOver: z.boolean().exactOptional(),
    names: z.boolean().exactOptional(),
  }),
  z.object({ action: z.enum(['prune', 'discard']), paths: z.array(z.string()) }),
]);

const FOUND: z.ZodType<FoundWorktree> = z.object({
  run: z.string(),
  agent: z.string(),
  path: z.string(),
  branch: z.string(),
  holds: z.enum(['in_use', 'work', 'nothing']).nullable(),
  commits: z.int(),
  dirty: z.boolean(),
  problem: z.string().nullable(),
  work: z.object({ files: z.array(z.string()), commits: z.array(z.string()) }).exactOptional(),
});

const ANSWER: z.ZodType<WorktreeAnswer> = z.object({
  worktrees: z.array(FOUND),
  ends: z.record(z.string(), z.string().nullable()),
});

const POLL_INTERVAL_MS = 100;
const POLL_WITHIN_MS = 20_000;
const REMOVE_WITHIN_MS = 10 * 60_000;

/** Asks workers that are alive, or only these; returns the answers by worker. One that does not answer in time has none. */
export async function askWorkers(
  database: Database,
  request: WorktreeRequest,
  only: readonly string[] | null = null,
): Promise<ReadonlyMap<string, WorktreeAnswer>> {
  if (!(await ensureWorktreeRequests(database))) return new Map();
  const id = randomUUID();
  // The commands that asked these were killed.
  await database.query(`delete from raymond.worktree_requests where asked_at < now() - interval '1 hour'`);
  const asked = await database.query<{ worker: string }>(
    `insert into raymond.worktree_requests (id, worker, request)
     select $1, name, $2 from raymond.nodes where ${IS_ALIVE} and ($3::text[] is null or name = any($3)) returning worker`,
    [id, JSON.stringify(request), only],
  );
  const deadline = Date.now() + (request.action === 'find' ? POLL_WITHIN_MS : REMOVE_WITHIN_MS);
  try {
    for (;;) {
      const rows = await database.query<{ worker: string; answer: string | null; is_alive: boolean }>(
        `select worker, answer, worker in (select name from raymond.nodes where ${IS_ALIVE}) as is_alive
         from raymond.worktree_requests where id = $1`,
        [id],
      );
      const isOver = asked.every(({ worker }) => {
        const row = rows.find((each) => each.worker === worker);
        return row === undefined || row.answer !== null || !row.is_alive;
      });
      if (isOver || Date.now() > deadline)
        return new Map(
          rows.flatMap(({ worker, answer }) =>
            answer === null ? [] : [[worker, ANSWER.parse(JSON.parse(answer))] as const],
          ),
        );
      await delay(POLL_INTERVAL_MS);
    }
  } finally {
    await database.query('delete from raymond.worktree_requests where id = $1', [id]).catch(() => {});
  }
}

/** A role that may make no tables waits for `raymond database init`. */
const LOOKS_PER_TRY = 240;

/** A worker, as far as its worktrees are concerned. */
interface WorktreeWorker {
  readonly name: string;
  readonly database: Database;
  readonly layout: FolderLayout;
  readonly env: NodeJS.ProcessEnv;
}

/** Creates the look for requests about the worktrees of a worker. Each is answered in the background, one after the other. */
export function createWorktreeAnswerer(worker: WorktreeWorker): () => Promise<void> {
  const { database, name } = worker;
  const taken = new Set<string>();
  let last: Promise<unknown> = Promise.resolve();
  let isReady = false;
  let looks = 0;
  return async () => {
    if (!isReady && looks % LOOKS_PER_TRY === 0) isReady = await ensureWorktreeRequests(database);
    looks += 1;
    if (!isReady) return;
    const rows = await database.query<{ id: string; request: string }>(
      `select id, request from raymond.worktree_requests where worker = $1 and answer is null`,
      [name],
    );
    for (const { id, request } of rows) {
      if (taken.has(id)) continue;
      taken.add(id);
      last = last
        .then(async () => {
          const given = await answer(worker, REQUEST.parse(JSON.parse(request)));
          const sql = 'update raymond.worktree_requests set answer = $3 where id = $1 and worker = $2';
          await database.query(sql, [id, name, JSON.stringify(given)]);
        })
        .catch(() => {})
        .finally(() => taken.delete(id));
    }
  };
}

async function answer(worker: WorktreeWorker, request: WorktreeRequest): Promise<WorktreeAnswer> {
  const { layout, env } = worker;
  const cwd = dirname(layout.root);
  if (request.action === 'find') {
    const { run, isOver = false, names = false } = request;
    const found = await findWorktrees(cwd, env, run, isOver ? nobody : usersOf(worker));
    return { worktrees: names ? await nameWork(found, env) : found, ends: {} };
  }
  // Looked at again: a run may have been resumed meanwhile.
  const found = await findWorktrees(cwd, env, undefined, usersOf(worker));
  const meant = found.filter(({ path }) => request.paths.includes(path));
  const ends: Record<string, string | null> = {};
  const observe = ({ path }: FoundWorktree, problem: string | null): void => {
    ends[path] = problem;
  };
  for (const { path, holds } of meant) if (holds === 'in_use') ends[path] = 'somebody works in it';
  const free = meant.filter(({ holds }) => holds !== 'in_use');
  try {
    if (request.action === 'prune') await pruneWorktrees(free, env, observe);
    else await discardEach(free, env, observe);
  } catch (error) {
    for (const { path } of free) ends[path] ??= errorMessageOf(error);
  }
  return { worktrees: meant, ends };
}

const nobody: FindUsers = async () => () => false;

/** Of a run with files here that is not in this database all agents may work: it may be in another one, or is about to be removed. */
const usersOf =
  ({ database, layout }: WorktreeWorker): FindUsers =>
  async (id) => {
    const rows = await database.query('select 1 from raymond.runs where id = $1', [id]);
    if (rows.length === 0) return () => existsSync(layout.runFolder(id));
    const { run } = await loadRunRows(database, id);
    return (agent) => isWorkingIn(run, agent);
  };
