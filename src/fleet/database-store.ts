import type { AppliedStep } from '../core/event.ts';
import { getAgent, type Run } from '../core/run.ts';
import { changeOf } from '../store/change.ts';
import { noSuchRunError } from '../store/load.ts';
import { findDoubtfulTurns, includesTurn, type OpenedRun, TakenOverError } from '../store/opened-run.ts';
import { serializeSavedRun } from '../store/serialize-run.ts';
import { type SnapshotOptions, SnapshotWriter } from '../store/snapshot-writer.ts';
import type { StopMode } from '../store/stop-request.ts';
import type { RunStore } from '../store/store.ts';
import type { Database } from './database.ts';
import { formatRow, loadRunRows } from './run-rows.ts';
import type { TravellingTurn } from './travel-rows.ts';

/** Who opens a run, and how. */
export interface DatabaseStoreOptions extends SnapshotOptions {
  /** The boot of this machine; null if it cannot be known. */
  readonly bootId: string | null;
  /** The stop that was requested of the run, as far as this process knows; null if none was. */
  readonly requestedStop: () => StopMode | null;
  /** What this process makes of the run before it drives it: paths that are its own. */
  readonly adapt?: (run: Run) => Run;
  /** The name of this worker: turns of agents that are at home elsewhere are on their way from the moment that they are on record. */
  readonly worker?: string;
  /** How often the run had been given to another worker when this process was told to open it; whoever comes later has it. */
  readonly move?: number;
}

/** A run in the database that this process drives from now on: whoever drove it before can save nothing more. */
export interface OpenedDatabaseRun {
  readonly run: Run;
  readonly store: RunStore;
  /** How often it has been opened, this time included. */
  readonly epoch: number;
  /** The boot of the machine on which it was driven before; null if it is not known. */
  readonly formerBootId: string | null;
}

/** Opens a run to drive it. */
export async function openDatabaseStore(
  database: Database,
  id: string,
  options: DatabaseStoreOptions,
): Promise<OpenedDatabaseRun> {
  // A run that this Raymond cannot read stays with whoever drives it.
  await loadRunRows(database, id);
  const [taken] = await database.query<{ epoch: number }>(
    `update raymond.runs set epoch = epoch + 1, waits_for = null, updated_at = now()
     where id = $1 and move = coalesce($2, move) returning epoch`,
    [id, options.move],
  );
  if (taken === undefined) throw options.move === undefined ? noSuchRunError(id) : new TakenOverError(id);
  const { epoch } = taken;
  const loaded = await loadRunRows(database, id);
  const saved: OpenedRun = {
    ...loaded,
    run: options.adapt?.(loaded.run) ?? loaded.run,
    journal: { ...loaded.journal, owner: epoch },
    mark: loaded.mark ?? id,
    bootId: options.bootId,
    doubtful: findDoubtfulTurns(loaded, options.bootId, [loaded.bootId]),
  };
  const put = putSnapshot(database, id, epoch);
  await put(serializeSavedRun(saved), saved);
  return { run: saved.run, store: storeOf(database, saved, epoch, options), epoch, formerBootId: loaded.bootId };
}

/** Puts a snapshot in its place, unless there is a later one or another process drives the run. */
const putSnapshot =
  (database: Database, id: string, epoch: number) =>
  async (text: string, { run }: OpenedRun | { readonly run: Run }): Promise<void> => {
    await database.query(
      'update raymond.runs set snapshot = $3, snapshot_seq = $4 where id = $1 and epoch = $2 and snapshot_seq <= $4',
      [id, epoch, text, run.seq],
    );
  };

/**
 * One statement, and so one transaction: the run moves on from the step that it is at, and has the rows of its steps. A turn that is
 * on record then is on its way to its worker: should this one be killed now, that knows that it has not begun.
 */
const SAVE = `with moved as (
  update raymond.runs set seq = $3, status = $4, updated_at = now()
  where id = $1 and epoch = $2 and seq = $5 returning id
), sent as (
  insert into raymond.travelling (run, agent, turn, home, is_new)
  select moved.id, begun.*, true from moved, unnest($8::text[], $9::text[], $10::text[]) as begun
)
insert into raymond.journal (run, seq, epoch, change)
select moved.id, step.seq, $2, step.change from moved, unnest($6::integer[], $7::text[]) as step (seq, change)
returning seq`;

function storeOf(database: Database, saved: OpenedRun, epoch: number, options: DatabaseStoreOptions): RunStore {
  const { id } = saved.run;
  let { seq } = saved.run;
  let failure: unknown;
  const put = putSnapshot(database, id, epoch);
  const snapshots = new SnapshotWriter(put, saved, options);
  /** A save whose answer was lost is tried again: if its steps are there, they count. */
  const isSaved = async (run: Run): Promise<boolean> => {
    const [row] = await database.query<{ epoch: number; seq: number }>(
      'select epoch, seq from raymond.runs where id = $1',
      [id],
    );
    return row?.epoch === epoch && row.seq === run.seq;
  };
  return {
    async save(steps) {
      if (failure !== undefined) throw failure;
      const last = steps.at(-1)?.step.run;
      if (last === undefined) return;
      const from = seq;
      const changes = steps.map(({ before, step }) => {
        if (before.seq !== seq) throw new Error(`step ${before.seq + 1} of run ${id} cannot follow step ${seq}`);
        seq = step.run.seq;
        return formatRow(changeOf(before, step), epoch);
      });
      const numbers = steps.map(({ step }) => step.run.seq);
      const begun = findBegunElsewhere(steps, options.worker);
      try {
        await database.whenReachable(async () => {
          const values = [id, epoch, last.seq, last.status, from, numbers, changes];
          const rows = await database.query(SAVE, [
            ...values,
            begun.map(({ agent }) => agent),
            begun.map(({ turn }) => turn),
            begun.map(({ home }) => home),
          ]);
          if (rows.length === 0 && !(await isSaved(last))) throw new TakenOverError(id);
        });
      } catch (error) {
        failure = error;
        throw error;
      }
      snapshots.update({ ...saved, run: last, journal: { ...saved.journal, seq: last.seq, offset: last.seq + 1 } });
    },
    get journalEnd() {
      return { seq, offset: seq + 1, owner: epoch, checkedFrom: 0 };
    },
    snapshot: () => snapshots.write(),
    async close() {
      await database.whenReachable(() => snapshots.write());
    },
    abandon: () => snapshots.abandon(),
    presenceDescriptor: undefined,
    mark: saved.mark,
    isDoubtful: ({ agent, number }) => includesTurn(saved.doubtful, { agent, turn: number }),
    requestedStop: options.requestedStop,
  };
}

/** The turns that these steps put on record and another worker takes. */
function findBegunElsewhere(
  steps: readonly AppliedStep[],
  worker: string | undefined,
): readonly Omit<TravellingTurn, 'run'>[] {
  return steps.flatMap(({ step: { run, events } }) =>
    events.flatMap((event) => {
      if (event.kind !== 'turn_started') return [];
      const { home } = getAgent(run, event.agent);
      return home === null || home === worker ? [] : [{ agent: event.agent, turn: String(event.turn), home }];
    }),
  );
}
