import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { EventStream } from '../events/event-stream.ts';
import { describeAnswerer } from '../runtime/answerer.ts';
import type { RunEnvironment, RunHandle } from '../runtime/run-handle.ts';
import { toWords } from '../runtime/words.ts';
import { completeEvent } from '../store/migrations.ts';
import type { Database } from './database.ts';
import { insertAnswer } from './database-answers.ts';
import { readChanges } from './database-reader.ts';
import { insertWords } from './database-words.ts';
import { DRIVER_COLUMNS, type DriverRow, describeWait, WITH_DRIVER } from './driver-columns.ts';
import { loadRunRows } from './run-rows.ts';
import { TurnWatcher } from './turn-watcher.ts';

const POLL_INTERVAL_MS = 150;

/** Where to begin to follow a run: with these steps of its journal, and until this life of it has ended. */
export interface FollowStart {
  readonly initial: Run;
  readonly fromSeq: number;
  readonly life: number;
}

/**
 * A handle for a run that a worker drives: its events come from the database. To stop it means to stop following: the run goes on.
 * While the database cannot be reached, it is waited for.
 */
export function followDatabaseRun(
  database: Database,
  { initial, fromSeq, life }: FollowStart,
  { env = process.env, observe, ...observers }: RunEnvironment,
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
  const turns = new TurnWatcher(database, initial, observers);
  const waits = new WaitTeller((waitsFor, at) => notify({ kind: 'run_waiting', at, waitsFor }));
  const follow = async (): Promise<Run> => {
    for (let seq = fromSeq; ; ) {
      // Read before the journal: a life that has ended by now writes nothing more.
      const { hasEnded, waitsFor } = await database.whenReachable(() => observeLife(database, id, life));
      seq = await database.whenReachable(async () => {
        let next = seq;
        for await (const change of readChanges(database, id, next)) {
          next = change.seq + 1;
          seq = next;
          const events = change.events.map(completeEvent);
          await turns.observe(events);
          for (const event of events) notify(event);
        }
        return next;
      });
      if (hasEnded) return (await database.whenReachable(() => loadRunRows(database, id))).run;
      waits.look(waitsFor, database.clock.now());
      await turns.look();
      if (detaching.signal.aborted) throw detachedError(id, database.name);
      await delay(POLL_INTERVAL_MS, undefined, { signal: detaching.signal }).catch(() => {});
    }
  };
  const talk = async (kind: 'say' | 'interrupt', agent: string, text: string | null): Promise<void> => {
    const words = { kind, agent, text: text === null ? null : toWords(text) };
    const facts = { id: randomUUID(), by: describeAnswerer(env), at: database.clock.now() };
    await database.whenReachable(() => insertWords(database, id, { ...words, ...facts }));
  };
  const finished = follow().finally(() => {
    turns.close();
    stream.end();
  });
  finished.catch(() => {});
  return {
    id,
    initial,
    damage: [],
    afterthoughts: [],
    events: stream,
    finished,
    stop: () => detaching.abort(),
    kill: () => detaching.abort(),
    answer: (ask, text) =>
      insertAnswer(database, id, { ask, text, by: describeAnswerer(env), answeredAt: database.clock.now(), files: [] }),
    say: (agent, text) => talk('say', agent, text),
    interrupt: (agent, text) => talk('interrupt', agent, text),
  };
}

/** A wait that is over sooner is not worth a word. */
const TELL_AFTER_MS = 1_000;

/** Tells what keeps a run from going on, once that lasts for a while, and when it is over. */
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

/** Whether a worker has begun with a life of a run and the run is at rest now, and what keeps it from going on. */
async function observeLife(
  database: Database,
  id: string,
  life: number,
): Promise<{ readonly hasEnded: boolean; readonly waitsFor: string | null }> {
  const [row] = await database.query<DriverRow & { readonly ended: boolean }>(
    `select begun >= $2 and status <> 'running' as ended, ${DRIVER_COLUMNS} from raymond.runs ${WITH_DRIVER} where id = $1`,
    [id, life],
  );
  return row === undefined ? { hasEnded: true, waitsFor: null } : { hasEnded: row.ended, waitsFor: describeWait(row) };
}

const detachedError = (id: string, name: string): RaymondError =>
  new RaymondError(`${id} goes on in ${name}.`, {
    exitCode: EXIT.interrupted,
    hint: `To watch it: raymond logs ${id} --follow. To stop it: raymond stop ${id}.`,
  });
