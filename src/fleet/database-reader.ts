import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { deriveObservedStatus, type OwnerInfo } from '../core/observed-status.ts';
import { RaymondError } from '../errors.ts';
import { HistoryCollector } from '../events/run-history.ts';
import { MAX_TRANSITIONS } from '../runtime/history-file.ts';
import type { RunReader } from '../runtime/run-reader.ts';
import { ArchivedAgentsCollector } from '../store/archived-agents.ts';
import type { Change } from '../store/change.ts';
import { noSuchRunError } from '../store/load.ts';
import { completeEvent } from '../store/migrations.ts';
import type { ObservedRun } from '../store/observed-run.ts';
import {
  compareSummaries,
  type RunSummary,
  resolveReference,
  toRunSummary,
  type UnreadableRun,
} from '../store/runs.ts';
import { parseSavedRun, tryParseAgent } from '../store/state-file.ts';
import type { Database } from './database.ts';
import { insertAnswer, selectQuestionEnd } from './database-answers.ts';
import { deleteWords, hasWords, insertWords } from './database-words.ts';
import { DRIVER_COLUMNS, type DriverRow, describeWait, WITH_DRIVER } from './driver-columns.ts';
import { LiveTurns } from './live-turns.ts';
import { nameRun, parseChange, replayRows } from './run-rows.ts';
import { TurnFilesCache } from './turn-rows.ts';

const POLL_INTERVAL_MS = 200;
const ROWS_PER_READ = 500;

/** The runs of a database. `close` removes what was read of turns. */
export function createDatabaseReader(database: Database): RunReader & { readonly close: () => Promise<void> } {
  const turns = new TurnFilesCache(database);
  const live = new LiveTurns(database, turns);
  const list = new RunList(database);
  const loadHistory = async (id: string, upToSeq: number): Promise<HistoryCollector> => {
    const collector = new HistoryCollector(MAX_TRANSITIONS);
    for await (const { seq, events } of readChanges(database, id, 0)) {
      if (seq > upToSeq) break;
      for (const event of events) collector.observe(completeEvent(event));
    }
    return collector;
  };
  return {
    async resolveRunId(reference) {
      const rows = await database.query<{ id: string }>('select id from raymond.runs order by created_at');
      const ids = rows.map(({ id }) => id);
      return resolveReference(reference, ids.toSorted(), database.name, async () => ids.at(-1) ?? 'last');
    },
    listRuns: () => list.read(),
    async observeRun(id) {
      const [observed] = await observeRuns(database, [id]);
      if (observed === undefined) throw noSuchRunError(id);
      if ('error' in observed) throw observed.error;
      return observed;
    },
    findDamage: async () => [],
    async *readEvents(id, { afterSeq = -1, offset = 0 } = {}) {
      for await (const { seq, events } of readChanges(database, id, Math.max(offset, afterSeq + 1)))
        for (const event of events) {
          // Before its end is known, all that it said is here.
          if (event.kind === 'turn_ended') await live.complete(id, { agent: event.agent, number: event.turn });
          if (event.kind === 'run_ended') live.leave(id);
          yield { seq, offset: seq + 1, event: completeEvent(event) };
        }
    },
    loadHistory,
    async readArchivedAgents(id, upToSeq) {
      const collector = new ArchivedAgentsCollector(tryParseAgent);
      for await (const change of readChanges(database, id, 0)) {
        if (change.seq > upToSeq) break;
        collector.add(change);
      }
      return collector.archived;
    },
    countOpenConversations: () => 0,
    findStart: async (_, after) => ({ afterSeq: after }),
    watch(id) {
      const woken = new AbortController();
      const wake = (): void => woken.abort();
      return {
        wake,
        close: wake,
        async next() {
          await live.look(id);
          await delay(POLL_INTERVAL_MS, undefined, { signal: woken.signal }).catch(() => {});
        },
      };
    },
    async isDriven(id) {
      const [row] = await database.query<{ status: string }>('select status from raymond.runs where id = $1', [id]);
      return row?.status === 'running';
    },
    turnFolder: (id, turn) => turns.folderOf(id, turn),
    openTurnFolder: (id, turn) => live.glance(id, turn),
    liveTurnFolder: (id, turn, until) => live.folderOf(id, turn, until),
    async findTurnFolder(id, turn) {
      const folder = await turns.folderOf(id, turn);
      return existsSync(folder) ? folder : null;
    },
    findWorkflow: ({ id }) => turns.unpackWorkflowOf(id),
    readQuestionEnd: (id, ask) => selectQuestionEnd(database, id, ask),
    async answer(id, answer, uploads) {
      const files = uploads.map(async ({ name, path }) => ({ name, content: await readFile(path) }));
      const names = uploads.map(({ name }) => name);
      return insertAnswer(database, id, { ...answer, files: names }, await Promise.all(files));
    },
    async addWords(id, words) {
      await database.whenReachable(() => insertWords(database, id, words));
      return {
        isThere: () => hasWords(database, id, words.id),
        remove: () => deleteWords(database, id, words.id),
      };
    },
    async close() {
      turns.close();
      await database.close();
    },
  };
}

/** Reads the changes of a run from a step on, in order; holds few of them at a time. */
export async function* readChanges(database: Database, id: string, fromSeq: number): AsyncGenerator<Change> {
  for (let from = fromSeq; ; ) {
    const rows = await database.query<{ seq: number; change: string }>(
      'select seq, change from raymond.journal where run = $1 and seq >= $2 order by seq limit $3',
      [id, from, ROWS_PER_READ],
    );
    for (const { change } of rows) yield parseChange(change, nameRun(database, id)).change;
    const last = rows.at(-1);
    if (last === undefined || rows.length < ROWS_PER_READ) return;
    from = last.seq + 1;
  }
}

interface ObservedRow extends DriverRow {
  readonly id: string;
  readonly snapshot: string;
  readonly changes: readonly string[];
  readonly status: string;
}

type ReadRun = ObservedRun | { readonly id: string; readonly error: RaymondError };

/** Observes runs: each with its snapshot, the rows after that and its worker, as they were at one moment. */
async function observeRuns(database: Database, ids: readonly string[]): Promise<readonly ReadRun[]> {
  const rows = await database.query<ObservedRow>(
    `select id, status, snapshot, ${DRIVER_COLUMNS},
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
  const owner: OwnerInfo | null = row.is_alive ? { state: 'alive', pid: row.pid, host: row.host } : null;
  // One that was resumed, and that no worker has begun with, is about to run again.
  const observedStatus = run.status === 'running' ? deriveObservedStatus(run, 'alive') : 'running';
  return { run, observedStatus, owner, damage, journal, ...(waitsFor !== null && { waitsFor }) };
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
      `select id, concat_ws('/', mark, seq, status, driver, waits_for, pid, is_alive) as version from (
         select id, mark, seq, status, ${DRIVER_COLUMNS} from raymond.runs ${WITH_DRIVER}) as runs`,
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
