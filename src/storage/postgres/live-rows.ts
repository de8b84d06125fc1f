import type { TurnName, TurnStream } from '../storage.ts';
import type { Database } from './database.ts';

/*
 * The output of a running turn is in files of its node. While somebody watches the run, new bytes of these files go into rows,
 * which the watchers join. Nothing depends on the rows: they are not logged, so that a crash of the
 * database empties them, and they go when the turn has ended.
 */

/** How many turns of a run can be watched at once: of more nobody reads along. */
export const MAX_LIVE_TURNS = 64;

/** A piece of a file of a running turn. */
export interface OutputPiece extends TurnName {
  readonly file: TurnStream;
  /** The bytes of the file that come before. */
  readonly position: number;
  readonly bytes: Buffer;
}

/** Lets the workers of a run know for the next seconds that somebody watches it. */
export async function recordWatcher(database: Database, run: string): Promise<void> {
  await database.query(
    `insert into raymond.watchers (run, until) values ($1, now() + interval '10 seconds')
     on conflict (run) do update set until = excluded.until`,
    [run],
  );
}

/** Those of these runs that somebody watches. */
export async function selectWatchedRuns(database: Database, runs: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await database.query<{ run: string }>(
    'select run from raymond.watchers where run = any($1) and until > now()',
    [runs],
  );
  return new Set(rows.map(({ run }) => run));
}

/** Adds pieces of the files of turns that run on a worker. */
export async function insertPieces(
  database: Database,
  worker: string,
  pieces: readonly (OutputPiece & { readonly run: string })[],
): Promise<void> {
  await database.query(
    `insert into raymond.output (worker, run, agent, number, file, position, bytes)
     select $1, * from unnest($2::text[], $3::text[], $4::integer[], $5::text[], $6::bigint[], $7::bytea[])
     on conflict (run, agent, number, file, position) do update set bytes = excluded.bytes, worker = excluded.worker`,
    [
      worker,
      pieces.map(({ run }) => run),
      pieces.map(({ agent }) => agent),
      pieces.map(({ number }) => number),
      pieces.map(({ file }) => file),
      pieces.map(({ position }) => position),
      pieces.map(({ bytes }) => bytes),
    ],
  );
}

/** Removes the pieces of a turn; of a file that grows forever only those before a byte. */
export async function deletePieces(
  database: Database,
  run: string,
  { agent, number }: TurnName,
  before?: { readonly file: TurnStream; readonly position: number },
): Promise<void> {
  await database.query(
    `delete from raymond.output where run = $1 and agent = $2 and number = $3
     and ($4::text is null or (file = $4 and position < $5))`,
    [run, agent, number, before?.file ?? null, before?.position ?? 0],
  );
}

/** Removes what an earlier process of a worker has left behind. */
export async function deletePiecesOf(database: Database, worker: string): Promise<void> {
  await database.query('delete from raymond.output where worker = $1', [worker]);
  await database.query('delete from raymond.watchers where until < now()');
}

/** A watcher's position in a file: everything up to a byte, or nothing (-1). */
export interface WatchedFile extends TurnName {
  readonly file: TurnStream;
  readonly upTo: number;
}

/** Reads the pieces of files of a run that somebody who watches does not have yet, in order. */
export async function selectPieces(
  database: Database,
  run: string,
  watched: readonly WatchedFile[],
): Promise<readonly OutputPiece[]> {
  const rows = await database.query<Omit<OutputPiece, 'position'> & { readonly position: string }>(
    `select agent, number, file, position, bytes
     from unnest($2::text[], $3::integer[], $4::text[], $5::bigint[]) as watched (agent, number, file, up_to)
     join raymond.output using (agent, number, file)
     where run = $1 and position + length(bytes) > up_to order by position`,
    [
      run,
      watched.map(({ agent }) => agent),
      watched.map(({ number }) => number),
      watched.map(({ file }) => file),
      watched.map(({ upTo }) => upTo),
    ],
  );
  return rows.map((row) => ({ ...row, position: Number(row.position) }));
}

/** The lengths of the streams of a running turn, as far as they were sent. */
export async function selectSizes(
  database: Database,
  run: string,
  { agent, number }: TurnName,
): Promise<Readonly<Partial<Record<TurnStream, number>>>> {
  const rows = await database.query<{ file: TurnStream; size: string }>(
    `select file, max(position + length(bytes)) as size from raymond.output
     where run = $1 and agent = $2 and number = $3 group by file`,
    [run, agent, number],
  );
  return Object.fromEntries(rows.map(({ file, size }) => [file, Number(size)]));
}
