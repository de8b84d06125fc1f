import { dirname } from 'node:path';
import type { PoolClient } from 'pg';
import { errorMessageOf } from '../errors.ts';
import { createFilePrunePlace } from '../runtime/prune.ts';
import type { StoreLayout } from '../store/layout.ts';
import type { Database } from './database.ts';

/*
 * When a run is removed from the database, each worker that may have files of it is told so by a row, and removes them as soon as it
 * is there. What is not in the database is not removed for that reason alone: it may belong to another one.
 */

const LOOK_EVERY_MS = 2_000;

/** Tells workers to remove their files of a run, as a part of a transaction: these, and all that there are. */
export async function insertRemovals(
  client: Pick<PoolClient, 'query'>,
  run: string,
  workers: readonly string[],
): Promise<void> {
  await client.query(
    `insert into raymond.removals (run, worker)
     select $1, unnest($2::text[]) union select $1, name from raymond.workers on conflict do nothing`,
    [run, workers],
  );
}

/** Removes what this worker has of runs that are gone, now and then; returns a function that ends that. */
export function removeGoneRuns(
  database: Database,
  {
    name,
    layout,
    env,
    warn,
  }: {
    readonly name: string;
    readonly layout: StoreLayout;
    readonly env: NodeJS.ProcessEnv;
    readonly warn: (message: string) => void;
  },
): () => void {
  const place = createFilePrunePlace(dirname(layout.root), env);
  const told = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const look = async (): Promise<void> => {
    // A run that has got the id of one that is gone keeps its files.
    const rows = await database.query<{ run: string }>(
      'select run from raymond.removals where worker = $1 and run not in (select id from raymond.runs)',
      [name],
    );
    for (const { run: id } of rows) {
      try {
        const worktrees = await place.findWorktrees(id);
        await place.remove({ id, status: null, bytes: 0, changedAt: 0, worktrees });
      } catch (error) {
        // Such as a turn that still runs: it is tried again.
        if (!told.has(id)) warn(`the files of ${id}, which is gone, stay for now: ${errorMessageOf(error)}`);
        told.add(id);
        continue;
      }
      await database.query('delete from raymond.removals where worker = $1 and run = $2', [name, id]);
    }
  };
  const lookAgain = (): void => {
    if (!isOver) timer = setTimeout(lookNow, LOOK_EVERY_MS);
  };
  const lookNow = (): void => void look().then(lookAgain, lookAgain);
  lookNow();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
