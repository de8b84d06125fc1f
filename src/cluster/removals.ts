import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { PoolClient } from 'pg';
import type { RunPlace } from '../app/launcher.ts';
import { openFiles } from '../app/open-files.ts';
import { pruneRuns } from '../app/prune.ts';
import { makePrivateFolder, replaceFile } from '../disk/files.ts';
import type { FolderLayout } from '../disk/layout.ts';
import { EXIT, errorMessageOf, RaymondError } from '../errors.ts';
import { type Database, WORKFLOWS_LOCK } from '../storage/postgres/database.ts';
import { QueueClient } from './queues.ts';

/*
 * When a run is removed from the database, each worker that may have files of it is told so by a row, and removes them as soon as it
 * is there. What is not in the database is not removed for that reason alone: it may belong to another one.
 */

const POLL_INTERVAL_MS = 2_000;

/** Tells all workers to remove their files of a run, as a part of a transaction. */
async function insertRemovals(
  client: Pick<PoolClient, 'query'>,
  { run, mark }: { readonly run: string; readonly mark: string },
): Promise<void> {
  await client.query(
    `insert into raymond.removals (run, mark, worker) select $1, $2, name from raymond.nodes on conflict do nothing`,
    [run, mark],
  );
}

/** The folders of the runs of a worker. Each holds the mark of its run: a later run may have the same id. */
export class NodeFolders {
  private readonly layout: FolderLayout;
  private readonly place: RunPlace;
  /** One after the other: nothing may be made in a folder that is being removed. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(layout: FolderLayout, env: NodeJS.ProcessEnv) {
    this.layout = layout;
    this.place = openFiles(dirname(layout.root), env);
  }

  /** Makes the folder of a run that continues here; what an earlier run of this id has left is removed first. */
  take(run: string, mark: string): Promise<void> {
    return this.inTurn(async () => {
      const found = this.readMark(run);
      if (found === mark) return;
      if (found !== null) await this.removeFiles(run);
      await makePrivateFolder(this.layout.runFolder(run), true);
      await replaceFile(this.markFile(run), mark);
    });
  }

  /** Removes what is here of a run that is gone. A later run of this id keeps its files. */
  remove(run: string, mark: string): Promise<void> {
    return this.inTurn(async () => {
      const found = this.readMark(run);
      if (found === null || found === mark) await this.removeFiles(run);
    });
  }

  private async removeFiles(id: string): Promise<void> {
    const worktrees = await this.place.launcher.worktrees.findOfEnded(id);
    await pruneRuns(this.place, [{ id, status: null, bytes: 0, changedAt: 0, worktrees }], (_, error) => {
      if (error !== null) throw error;
    });
  }

  private readMark(run: string): string | null {
    try {
      return readFileSync(this.markFile(run), 'utf8') || null;
    } catch {
      return null;
    }
  }

  private markFile = (run: string): string => join(this.layout.runFolder(run), 'mark');

  private inTurn(action: () => Promise<void>): Promise<void> {
    const next = this.last.then(action, action);
    this.last = next.catch(() => {});
    return next;
  }
}

/** Removes what this worker has of runs that are gone, now and then; returns a function that ends that. */
export function removeGoneRuns(
  database: Database,
  name: string,
  folders: NodeFolders,
  warn: (message: string) => void,
): () => void {
  const told = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const poll = async (): Promise<void> => {
    const rows = await database.query<{ run: string; mark: string }>(
      'select run, mark from raymond.removals where worker = $1',
      [name],
    );
    for (const { run: id, mark } of rows) {
      try {
        await folders.remove(id, mark);
      } catch (error) {
        // Such as a turn that still runs: it is tried again.
        if (!told.has(id)) warn(`the files of ${id}, which is gone, stay for now: ${errorMessageOf(error)}`);
        told.add(id);
        continue;
      }
      await database.query('delete from raymond.removals where worker = $1 and run = $2 and mark = $3', [
        name,
        id,
        mark,
      ]);
    }
  };
  const pollAgain = (): void => {
    if (!isOver) timer = setTimeout(pollNow, POLL_INTERVAL_MS);
  };
  const pollNow = (): void => void poll().then(pollAgain, pollAgain);
  pollNow();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Keeps the workflows of a database from being removed, as a part of a transaction: a run is about to use one. */
export const KEEP_WORKFLOWS = `select pg_advisory_xact_lock_shared(${WORKFLOWS_LOCK})`;

/** Removes a run with its rows and its entries in the queues, and workflows that only it used. Its workers remove its files. */
export async function removeRunRows(database: Database, id: string): Promise<void> {
  const queues = await QueueClient.open(database);
  try {
    const [found] = await database.query<{ status: string }>('select status from raymond.runs where id = $1', [id]);
    if (found?.status === 'running') throw isRunningError(id);
    // Before its row goes: an entry that is left would stand in the way of a later run of this id.
    await queues.forgetRun(id);
    await database.transaction(async (client) => {
      const { rows } = await client.query<{ mark: string }>(
        `delete from raymond.runs where id = $1 and status <> 'running' returning mark`,
        [id],
      );
      const [row] = rows;
      if (row === undefined) throw isRunningError(id);
      await insertRemovals(client, { run: id, mark: row.mark });
    });
    await database.transaction(async (client) => {
      await client.query(`select pg_advisory_xact_lock(${WORKFLOWS_LOCK})`);
      await client.query(
        `delete from raymond.blobs where run is null and key not in (select 'workflow/' || workflow from raymond.runs)`,
      );
    });
  } finally {
    await queues.close();
  }
}

const isRunningError = (id: string): RaymondError =>
  new RaymondError(`The run ${id} is running: it is not removed.`, {
    exitCode: EXIT.usage,
    hint: `Stop it first: \`raymond stop ${id}\`.`,
  });
