import { recordedTurn } from '../../core/run/agent.ts';
import { deriveObservedStatus, type OwnerInfo } from '../../core/run/status.ts';
import { RaymondError } from '../../errors.ts';
import { noSuchRunError } from '../opened-run.ts';
import { parseSavedRun } from '../run-schema.ts';
import {
  compareSummaries,
  type ObservedRun,
  type RunSummary,
  type RunUsage,
  resolveReference,
  toRunSummary,
  type UnreadableRun,
} from '../run-summary.ts';
import type { RunCatalog } from '../storage.ts';
import type { Database } from './database.ts';
import { QUEUED_TURNS } from './remote-turn-rows.ts';
import { DRIVER_COLUMNS, type DriverRow, describeWait, nameRun, replayRows, WITH_DRIVER } from './run-rows.ts';

/** Creates the catalog of the runs in a database; nodes and queues add how a workflow is made readable and a run is removed. */
export function createDatabaseCatalog(
  database: Database,
  { findWorkflow, remove }: Pick<RunCatalog, 'findWorkflow' | 'remove'>,
): RunCatalog {
  const list = new RunList(database);
  return {
    async resolve(reference) {
      const rows = await database.query<{ id: string }>('select id from raymond.runs order by created_at');
      const ids = rows.map(({ id }) => id);
      return resolveReference(reference, ids.toSorted(), database.name, async () => ids.at(-1) ?? 'last');
    },
    // Reading a run checks all of its rows.
    list: () => list.read(),
    async observe(id) {
      const [observed] = await observeRuns(database, [id]);
      if (observed === undefined) throw noSuchRunError(id);
      if ('error' in observed) throw observed.error;
      return observed;
    },
    async isDriven(id) {
      const [row] = await database.query<{ status: string }>('select status from raymond.runs where id = $1', [id]);
      return row?.status === 'running';
    },
    findWorkflow,
    measure: (id) => measureRun(database, id),
    remove,
    findHalfRemoved: async () => ({ ids: [], unsigned: [] }),
  };
}

interface ObservedRow extends DriverRow {
  readonly id: string;
  readonly snapshot: string;
  readonly changes: readonly string[];
  readonly status: string;
  readonly queued: readonly string[];
}

type ReadRun = ObservedRun | { readonly id: string; readonly error: RaymondError };

/** Observes runs: each with its snapshot, the rows after that and its worker, as they were at one moment. */
async function observeRuns(database: Database, ids: readonly string[]): Promise<readonly ReadRun[]> {
  const rows = await database.query<ObservedRow>(
    `select id, status, snapshot, ${DRIVER_COLUMNS}, ${QUEUED_TURNS} as queued,
       array(select change from raymond.journal where run = id and journal.seq > snapshot_seq order by journal.seq) as changes
     from raymond.runs ${WITH_DRIVER} where id = any($1)`,
    [ids],
  );
  return rows.map((row) => {
    try {
      return toObserved(database, row);
    } catch (error) {
      if (error instanceof RaymondError) return { id: row.id, error };
      throw error;
    }
  });
}

function toObserved(database: Database, row: ObservedRow): ObservedRun {
  const name = nameRun(database, row.id);
  const { run, journal } = replayRows(parseSavedRun(row.snapshot, name), row.changes, name);
  const damage: readonly string[] = [];
  if (row.status !== 'running') return { run, observedStatus: run.status, owner: null, damage, journal };
  const waitsFor = describeWait(row);
  const { driver, slots, pid, host } = row;
  const node = driver === null || slots === null ? {} : { node: { name: driver, slots } };
  const owner: OwnerInfo | null = row.is_alive ? { state: 'alive', pid, host, ...node } : null;
  // One that was resumed, and that no worker has begun with, is about to run again.
  const observedStatus = run.status === 'running' ? deriveObservedStatus(run, 'alive') : 'running';
  const queued = run.agents.flatMap(({ id, phase }) =>
    row.queued.includes(`${id}/${recordedTurn(phase)?.number}`) ? [id] : [],
  );
  return {
    run,
    observedStatus,
    owner,
    damage,
    journal,
    ...(waitsFor !== null && { waitsFor }),
    ...(queued.length > 0 && { queued }),
  };
}

const toListed = (read: ReadRun): RunSummary | UnreadableRun =>
  'error' in read ? { kind: 'unreadable', ...read } : toRunSummary(read);

/** Lists all runs, again and again: one that has not changed is not read anew. */
class RunList {
  private readonly database: Database;
  private known: ReadonlyMap<string, { readonly version: string; readonly listed: RunSummary | UnreadableRun }> =
    new Map();

  constructor(database: Database) {
    this.database = database;
  }

  async read(): Promise<readonly (RunSummary | UnreadableRun)[]> {
    const rows = await this.database.query<{ id: string; version: string }>(
      `select id, concat_ws('/', mark, seq, status, driver, waits_for, pid, is_alive, queued) as version from (
         select id, mark, seq, status, ${DRIVER_COLUMNS}, ${QUEUED_TURNS} as queued from raymond.runs ${WITH_DRIVER}) as runs`,
    );
    const stale = rows.filter(({ id, version }) => this.known.get(id)?.version !== version).map(({ id }) => id);
    const read = new Map((await observeRuns(this.database, stale)).map(toListed).map((listed) => [listed.id, listed]));
    const entries = rows.flatMap(({ id, version }) => {
      const listed = read.get(id) ?? this.known.get(id)?.listed;
      // One that is gone by now was removed meanwhile.
      return listed === undefined ? [] : [{ version, listed }];
    });
    this.known = new Map(entries.map((entry) => [entry.listed.id, entry]));
    return entries.map(({ listed }) => listed).sort(compareSummaries);
  }
}

async function measureRun(database: Database, id: string): Promise<RunUsage> {
  const [row] = await database.query<{ bytes: string; changed_at: Date }>(MEASURE, [id]);
  return { bytes: Number(row?.bytes ?? 0), changedAt: row?.changed_at.getTime() ?? 0 };
}

const MEASURE = `select updated_at as changed_at, pg_column_size(runs.*)
  ${['journal', 'requests', 'blobs', 'remote_turns']
    .map((table) => `+ coalesce((select sum(pg_column_size(t.*)) from raymond.${table} t where run = runs.id), 0)`)
    .join('\n  ')} as bytes
  from raymond.runs where id = $1`;
