import { setTimeout as delay } from 'node:timers/promises';
import type { Event } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { EventStream } from '../render/event-stream.ts';
import { listWaitingAsks } from '../render/questions.ts';
import { createDatabaseBlobs } from '../storage/postgres/blobs.ts';
import type { Database } from '../storage/postgres/database.ts';
import { DRIVER_COLUMNS, type DriverRow, describeWait, WITH_DRIVER } from '../storage/postgres/driver-columns.ts';
import { createDatabaseInbox } from '../storage/postgres/inbox.ts';
import { readStepRows } from '../storage/postgres/journal.ts';
import { createDatabaseOutput } from '../storage/postgres/output.ts';
import { QUEUED_TURNS } from '../storage/postgres/queued-turns.ts';
import { loadRunRows } from '../storage/postgres/run-rows.ts';
import { createTalk, type RunEnvironment, type RunHandle } from '../wiring/run-handle.ts';
import { TurnWatcher } from './turn-watcher.ts';

const POLL_INTERVAL_MS = 150;

/** Where to begin to follow a run: with these steps of its journal, and until this generation of it has ended. */
export interface FollowStart {
  readonly initial: Run;
  readonly fromSeq: number;
  readonly generation: number;
}

/**
 * A handle for a run that a worker drives: its events come from the database. To stop it means to stop following: the run continues.
 * While the database cannot be reached, it is waited for.
 */
export function followDatabaseRun(
  database: Database,
  { initial, fromSeq, generation }: FollowStart,
  { env = process.env, observe, watchQueued, ...observers }: RunEnvironment,
): RunHandle {
  const { id } = initial;
  const stream = new EventStream();
  const detaching = new AbortController();
  const notify = (event: Event): void => {
    stream.push([event]);
    try {
      observe?.(event);
    } catch {}
    try {
      if (event.kind === 'printed') turns.showPrint(event);
    } catch {}
  };
  const turns = new TurnWatcher(createDatabaseOutput(database), initial, observers);
  const waits = new WaitTeller((waitsFor, at) => notify({ kind: 'run_waiting', at, waitsFor }));
  let lastQueued = '';
  const tellQueued = (queued: readonly string[]): void => {
    if (queued.join() === lastQueued) return;
    lastQueued = queued.join();
    try {
      watchQueued?.(new Set(queued));
    } catch {}
  };
  const follow = async (): Promise<Run> => {
    for (let seq = fromSeq; ; ) {
      // Read before the journal: a generation that has ended by now writes nothing more.
      const { hasEnded, waitsFor, queued } = await database.retryUntilReachable(() =>
        observeLife(database, id, generation),
      );
      seq = await database.retryUntilReachable(async () => {
        let next = seq;
        for await (const { change } of readStepRows(database, id, next - 1)) {
          next = change.seq + 1;
          seq = next;
          const { events } = change;
          await turns.observe(events);
          for (const event of events) notify(event);
        }
        return next;
      });
      if (hasEnded) return (await database.retryUntilReachable(() => loadRunRows(database, id))).run;
      waits.look(waitsFor, database.clock.now());
      tellQueued(queued);
      await turns.look();
      if (detaching.signal.aborted) throw detachedError(id, database.name);
      await delay(POLL_INTERVAL_MS, undefined, { signal: detaching.signal }).catch(() => {});
    }
  };
  const place = { inbox: createDatabaseInbox(database), blobs: createDatabaseBlobs(database) };
  const talk = createTalk(place, id, {
    env,
    clock: database.clock,
    async findQuestion(ask) {
      const { run } = await database.retryUntilReachable(() => loadRunRows(database, id));
      const waiting = listWaitingAsks(run).find((each) => each.ask === ask);
      const isOver = waiting?.untilMs != null && waiting.untilMs <= database.clock.now();
      return isOver ? undefined : waiting?.question;
    },
    look: () => {},
  });
  const finished = follow().finally(() => {
    turns.close();
    stream.end();
  });
  finished.catch(() => {});
  return {
    id,
    initial,
    damage: [],
    lateWarnings: [],
    events: stream,
    finished,
    stop: () => detaching.abort(),
    kill: () => detaching.abort(),
    ...talk,
  };
}

/** A wait that is over sooner is not worth a word. */
const TELL_AFTER_MS = 1_000;

/** Tells what keeps a run from continuing, once that lasts for a while, and when it is over. */
class WaitTeller {
  private readonly tell: (waitsFor: string | null, at: number) => void;
  private told: string | null = null;
  private seen: string | null = null;
  private since = 0;

  constructor(tell: (waitsFor: string | null, at: number) => void) {
    this.tell = tell;
  }

  look(waitsFor: string | null, now: number): void {
    if (waitsFor !== this.seen) this.since = now;
    this.seen = waitsFor;
    if (waitsFor === this.told || (waitsFor !== null && now - this.since < TELL_AFTER_MS)) return;
    this.told = waitsFor;
    this.tell(waitsFor, now);
  }
}

/** True if a worker has begun with a generation of a run and the run is at rest now, what keeps it from continuing, and the agents whose turns are queued. */
async function observeLife(
  database: Database,
  id: string,
  generation: number,
): Promise<{ readonly hasEnded: boolean; readonly waitsFor: string | null; readonly queued: readonly string[] }> {
  const [row] = await database.query<DriverRow & { readonly ended: boolean; readonly queued: readonly string[] }>(
    `select begun >= $2 and status <> 'running' as ended, ${DRIVER_COLUMNS}, ${QUEUED_TURNS} as queued
     from raymond.runs ${WITH_DRIVER} where id = $1`,
    [id, generation],
  );
  if (row === undefined) return { hasEnded: true, waitsFor: null, queued: [] };
  const queued = row.queued.map((turn) => turn.slice(0, turn.lastIndexOf('/')));
  return { hasEnded: row.ended, waitsFor: describeWait(row), queued };
}

const detachedError = (id: string, name: string): RaymondError =>
  new RaymondError(`${id} continues in ${name}.`, {
    exitCode: EXIT.interrupted,
    hint: `To watch it: raymond logs ${id} --follow. To stop it: raymond stop ${id}.`,
  });
