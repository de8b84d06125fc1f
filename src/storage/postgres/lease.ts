import type { AppliedStep } from '../../core/run/change.ts';
import { getAgent, type Run } from '../../core/run/run.ts';
import { EXIT } from '../../errors.ts';
import {
  findDoubtfulTurns,
  includesTurn,
  LeaseLostError,
  noSuchRunError,
  type OpenedRun,
  RunDrivenError,
  type SnapshotOptions,
  SnapshotWriter,
} from '../opened-run.ts';
import { serializeSavedRun } from '../run-file.ts';
import type { AcquireOptions, NewRun, RunLease } from '../storage.ts';
import { type Database, IS_ALIVE } from './database.ts';
import type { RemoteTurn } from './remote-turn-rows.ts';
import type { Requests } from './request-poll.ts';
import { formatRow, insertRun, loadRunRows, type NewRunRows } from './run-rows.ts';

/** The node for which leases are acquired. */
export interface LeasingNode {
  /** Turns of agents that are at home elsewhere are on their way from the moment that they are on record. */
  readonly name: string;
  /** The boot of this machine; null if it cannot be known. */
  readonly bootId: string | null;
  /** How often others may have taken this node for gone, up to now. */
  readonly countMissedHeartbeats: () => number;
}

/** How the leases of a database are acquired. */
export interface DatabaseLeaseOptions extends SnapshotOptions {
  /** Left out by commands, which get only runs that no node drives, and change nothing about where these run. */
  readonly node?: LeasingNode;
  /** Gives the run the paths of this node before it is driven. */
  readonly adapt?: (run: Run) => Run;
  /** Aborted by others who learn that the run is lost, with the error for it. */
  readonly lost?: AbortSignal;
  /** The requests to the run, as far as this process knows; a command knows none. */
  readonly requests?: Pick<Requests, 'pollRun' | 'pendingOf' | 'settle'>;
  /** The columns of a run that is created. */
  readonly rows?: NewRunRows;
}

/** The lease of a run in the database: earlier holders can save nothing more. */
export interface DatabaseLease extends RunLease {
  readonly epoch: number;
  /** The boot of the machine on which it was driven before; null if it is not known. */
  readonly formerBootId: string | null;
}

/** Gives the runs of a database to processes. */
export interface DatabaseLeases {
  create(run: NewRun): Promise<DatabaseLease>;
  acquire(run: string, options?: AcquireOptions): Promise<DatabaseLease>;
}

/** The leases of the runs in a database. */
export function createDatabaseLeases(database: Database, options: DatabaseLeaseOptions = {}): DatabaseLeases {
  const acquire: DatabaseLeases['acquire'] = (id, { move } = {}) =>
    database.retryUntilReachable(() => acquireRun(database, id, move, options));
  return {
    async create({ run, events }) {
      await database.transaction((client) => insertRun(client, run, events, options.rows));
      return acquire(run.id);
    },
    acquire,
  };
}

const ACQUIRE = `update raymond.runs set epoch = epoch + 1, waits_for = null,
  updated_at = case when $3 then now() else updated_at end
where id = $1 and move = coalesce($2, move) and ($3 or status <> 'running'
  or not exists (select 1 from raymond.nodes where name = driver and ${IS_ALIVE}))
returning epoch, generation`;

async function acquireRun(
  database: Database,
  id: string,
  move: number | undefined,
  options: DatabaseLeaseOptions,
): Promise<DatabaseLease> {
  const { node, adapt = (run) => run } = options;
  const gaps = node?.countMissedHeartbeats() ?? 0;
  // A run that this Raymond cannot read stays with its driver.
  await loadRunRows(database, id);
  const [taken] = await database.query<{ epoch: number; generation: number }>(ACQUIRE, [id, move, node !== undefined]);
  if (taken === undefined) throw node === undefined ? drivenError(id) : lostOrMissing(id, move);
  const { epoch, generation } = taken;
  const loaded = await loadRunRows(database, id);
  const bootId = node === undefined ? loaded.bootId : node.bootId;
  const saved: OpenedRun = {
    ...loaded,
    run: adapt(loaded.run),
    journal: { ...loaded.journal, owner: epoch },
    mark: loaded.mark ?? id,
    bootId,
    doubtful: findDoubtfulTurns(loaded, bootId, [loaded.bootId]),
  };
  if (node !== undefined) await putSnapshot(database, id, epoch)(serializeSavedRun(saved), saved);
  await options.requests?.pollRun(id);
  return { ...leaseOf(database, saved, { epoch, generation, gaps }, options), epoch, formerBootId: loaded.bootId };
}

const lostOrMissing = (id: string, move: number | undefined): Error =>
  move === undefined ? noSuchRunError(id) : new LeaseLostError(id);

const drivenError = (id: string): Error =>
  new RunDrivenError(`The run ${id} is driven by its worker.`, {
    exitCode: EXIT.usage,
    hint: `Wait for it, or stop it: \`raymond stop ${id}\`.`,
  });

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
  update raymond.runs set seq = $3, status = $4, updated_at = now(),
    begun = case when $4 = 'running' then begun else generation end
  where id = $1 and epoch = $2 and seq = $5 and generation = $11 returning id
), sent as (
  insert into raymond.remote_turns (run, agent, turn, node, is_new)
  select moved.id, begun.*, true from moved, unnest($8::text[], $9::text[], $10::text[]) as begun
)
insert into raymond.journal (run, seq, epoch, change)
select moved.id, step.seq, $2, step.change from moved, unnest($6::integer[], $7::text[]) as step (seq, change)
returning seq`;

interface Held {
  readonly epoch: number;
  readonly generation: number;
  /** How often others may have taken this node for gone when it acquired the run. */
  readonly gaps: number;
}

function leaseOf(
  database: Database,
  saved: OpenedRun,
  { epoch, generation, gaps }: Held,
  options: DatabaseLeaseOptions,
): RunLease {
  const { id } = saved.run;
  const { node, requests } = options;
  let { seq } = saved.run;
  let failure: unknown;
  let seenGaps = gaps;
  const settlings = new Set<Promise<void>>();
  const losing = new AbortController();
  const lost = options.lost === undefined ? losing.signal : AbortSignal.any([options.lost, losing.signal]);
  const lose = (): never => {
    const error = new LeaseLostError(id);
    losing.abort(error);
    throw error;
  };
  const put = putSnapshot(database, id, epoch);
  const snapshots = new SnapshotWriter(put, saved, options);
  const readPosition = async (): Promise<{ readonly epoch: number; readonly seq: number } | undefined> =>
    (
      await database.query<{ epoch: number; seq: number }>('select epoch, seq from raymond.runs where id = $1', [id])
    )[0];
  /** A save whose answer was lost is tried again: if its steps are there, they count. */
  const isSaved = async (run: Run): Promise<boolean> => {
    const row = await readPosition();
    return row?.epoch === epoch && row.seq === run.seq;
  };
  return {
    run: saved.run,
    damage: [],
    mark: saved.mark,
    node: node?.name ?? null,
    epoch,
    generation,
    turn: null,
    lost,
    presence: null,
    async append(steps) {
      if (failure !== undefined) throw failure;
      const last = steps.at(-1)?.step.run;
      if (last === undefined) return;
      const from = seq;
      const changes = steps.map(({ change }) => {
        if (change.seq !== seq + 1) throw new Error(`step ${change.seq} of run ${id} cannot follow step ${seq}`);
        seq = change.seq;
        return formatRow(change, epoch);
      });
      const numbers = steps.map(({ step }) => step.run.seq);
      const begun = findBegunElsewhere(steps, node?.name);
      const values = [
        ...[id, epoch, last.seq, last.status, from, numbers, changes],
        begun.map(({ agent }) => agent),
        begun.map(({ turn }) => turn),
        begun.map(({ node }) => node),
        generation,
      ];
      try {
        await database.retryUntilReachable(async () => {
          if ((await database.query(SAVE, values)).length === 0 && !(await isSaved(last))) lose();
        });
      } catch (error) {
        failure = error;
        throw error;
      }
      snapshots.update({ ...saved, run: last, journal: { ...saved.journal, seq: last.seq, offset: last.seq + 1 } });
    },
    journalEnd: null,
    snapshot: () => snapshots.write(),
    async confirm() {
      lost.throwIfAborted();
      const now = node?.countMissedHeartbeats() ?? seenGaps + 1;
      if (now === seenGaps) return;
      if ((await database.retryUntilReachable(readPosition))?.epoch !== epoch) lose();
      seenGaps = now;
    },
    isDoubtful: ({ agent, number }) => includesTurn(saved.doubtful, { agent, turn: number }),
    leaseId: String(generation),
    pending: () => requests?.pendingOf(id) ?? [],
    settle(request, outcome) {
      if (requests === undefined) return;
      // If that fails, the next driver of the run finds the request in the journal.
      const settling = requests
        .settle(id, request, outcome)
        .catch(() => {})
        .finally(() => settlings.delete(settling));
      settlings.add(settling);
    },
    async release() {
      await Promise.all(settlings);
      await database.retryUntilReachable(() => snapshots.write());
    },
    abandon() {
      snapshots.abandon();
      failure ??= new Error(`the run ${id} was abandoned`);
    },
  };
}

/** The turns that these steps put on record and another worker takes. */
function findBegunElsewhere(
  steps: readonly AppliedStep[],
  worker: string | undefined,
): readonly Omit<RemoteTurn, 'run'>[] {
  return steps.flatMap(({ step: { run, events } }) =>
    events.flatMap((event) => {
      if (event.kind !== 'turn_started') return [];
      const { node } = getAgent(run, event.agent);
      return node === null || node === worker ? [] : [{ agent: event.agent, turn: String(event.turn), node }];
    }),
  );
}
