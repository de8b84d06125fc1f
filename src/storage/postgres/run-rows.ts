import { randomBytes } from 'node:crypto';
import type { PoolClient } from 'pg';
import { applyInPlace, type Change, type Draft } from '../../core/run/change.ts';
import type { Event } from '../../core/run/event.ts';
import { runIdProblem } from '../../core/run/ids.ts';
import type { Run } from '../../core/run/run.ts';
import { EXIT, errorCodeOf, errorMessageOf, RaymondError } from '../../errors.ts';
import { formatJournalLine, parseEntry } from '../journal-lines.ts';
import { firstChange, noSuchRunError, runExistsError } from '../opened-run.ts';
import { checkLine, type SavedRun, serializeSavedRun } from '../run-file.ts';
import { parseSavedRun, validateRun } from '../run-schema.ts';
import { type Database, IS_ALIVE } from './database.ts';

/*
 * A run in the database is what it is on disk: a state file, which is the column `snapshot`, and the lines of a journal, which
 * are the rows of `journal`, with the same text and the same checksums. What is an owner's number there is an epoch here. The
 * byte offset after a line is the number of its step plus one.
 */

/** The columns of a new run. */
export interface NewRunRows {
  /** The hash of its workflow, which is in the database already, and the path of the workflow in that archive. */
  readonly workflow: string;
  readonly workflowPath: string;
  /** A random text that tells it from all other runs. */
  readonly mark: string;
  /** The labels that its worker must have. */
  readonly labels: readonly string[];
}

const NO_WORKFLOW = { workflow: '', workflowPath: '', labels: [] };
const UNIQUE_VIOLATION = '23505';

/** Creates a run, as a part of a transaction. */
export async function insertRun(
  client: Pick<PoolClient, 'query'>,
  run: Run,
  events: readonly Event[],
  { workflow, workflowPath, mark, labels }: NewRunRows = { ...NO_WORKFLOW, mark: randomBytes(8).toString('hex') },
): Promise<void> {
  const { id, status, seq } = run;
  const problem = runIdProblem(id);
  if (problem !== undefined) throw new RaymondError(`${problem}.`, { exitCode: EXIT.usage });
  const start = { run, mark, bootId: null };
  const saved = { ...start, journal: { seq, offset: seq + 1, owner: 0, checkedFrom: 0 }, doubtful: [] };
  try {
    await client.query(
      `insert into raymond.runs (id, status, seq, mark, snapshot, snapshot_seq, workflow, workflow_path, labels)
       values ($1, $2, $3, $4, $5, $3, $6, $7, $8)`,
      [id, status, seq, start.mark, serializeSavedRun(saved), workflow, workflowPath, labels],
    );
  } catch (error) {
    throw errorCodeOf(error) === UNIQUE_VIOLATION ? runExistsError(id) : error;
  }
  await client.query('insert into raymond.journal (run, seq, epoch, change) values ($1, $2, 0, $3)', [
    id,
    seq,
    formatRow(firstChange(start, events), 0),
  ]);
}

/** Loads a run as of its last step: its snapshot and the rows of the journal after it, seen at one moment. */
export async function loadRunRows(database: Pick<Database, 'name' | 'query'>, id: string): Promise<SavedRun> {
  const rows = await database.query<{ snapshot: string; change: string | null }>(
    `select case when row_number() over (order by journal.seq) = 1 then snapshot end as snapshot, change
     from raymond.runs left join raymond.journal on run = id and journal.seq > snapshot_seq
     where id = $1 order by journal.seq`,
    [id],
  );
  const [first] = rows;
  if (first === undefined) throw noSuchRunError(id);
  const changes = rows.flatMap(({ change }) => (change === null ? [] : [change]));
  return replayRows(parseSavedRun(first.snapshot, nameRun(database, id)), changes, nameRun(database, id));
}

/** The run of a snapshot and the lines after it; `name` is only for messages. */
export function replayRows(saved: SavedRun, changes: readonly string[], name: string): SavedRun {
  if (changes.length === 0) return saved;
  // The schema has made a copy, so this run may be changed in place.
  const draft = saved.run as Draft;
  let { owner } = saved.journal;
  for (const text of changes) {
    const entry = parseChange(text, name);
    try {
      applyInPlace(draft, entry.change);
    } catch (error) {
      throw brokenRowError(name, errorMessageOf(error));
    }
    owner = entry.owner;
  }
  const run = validateRun(draft, name);
  return { ...saved, run, journal: { ...saved.journal, seq: run.seq, offset: run.seq + 1, owner } };
}

/** Parses a row of a journal; throws if it is not as it was written. */
export function parseChange(text: string, name: string): { readonly change: Change; readonly owner: number } {
  const line = { text, start: 0, end: 0, ended: true, checksum: checkLine(Buffer.from(text)) };
  const entry = parseEntry(line, true);
  if (typeof entry === 'object') return entry;
  throw brokenRowError(name, entry ?? 'it is not JSON');
}

/** The name of a run's rows in messages. */
export const nameRun = ({ name }: Pick<Database, 'name'>, id: string): string => `the run ${id} in ${name}`;

const brokenRowError = (name: string, why: string): RaymondError =>
  new RaymondError(`A row of the journal of ${name} is broken: ${why}.`, {
    exitCode: EXIT.invalid,
    hint: 'Nothing was touched. Bring the database back as it was, say from a backup, or start a new run.',
  });

/** The text of a journal's row: a line without its line feed. */
export const formatRow = (change: Change, epoch: number): string => formatJournalLine(change, epoch).trimEnd();

/*
 * The driver of a run, as every observer sees it: the columns of its node, and their meaning in words.
 */

/** The columns of a run's worker, of a run joined with it. */
export const DRIVER_COLUMNS = `driver, host, pid, slots,
  coalesce(waits_for, (
    select 'the worker ' || remote_turns.node || ', which cannot take a turn: ' || problem from raymond.remote_turns
    where run = runs.id and problem is not null order by agent limit 1
  )) as waits_for,
  coalesce(${IS_ALIVE}, false) as is_alive, coalesce(draining, false) as is_leaving`;

/** Joins a run with its worker. */
export const WITH_DRIVER = 'left join raymond.nodes on name = driver';

/** A run's worker. */
export interface DriverRow {
  readonly driver: string | null;
  readonly waits_for: string | null;
  readonly host: string | null;
  readonly pid: number | null;
  readonly slots: number | null;
  readonly is_alive: boolean;
  readonly is_leaving: boolean;
}

/** The reason why a run waits, to follow "waits for"; null if it does not. */
export function describeWait(row: DriverRow): string | null {
  const { driver, waits_for: waitsFor, is_alive: isAlive, is_leaving: isDraining } = row;
  if (waitsFor !== null) return waitsFor;
  if (isAlive) return isDraining ? `the next start of its worker ${driver}, which begins nothing more` : null;
  return driver === null ? 'a worker' : `its worker ${driver}, which is not running`;
}
