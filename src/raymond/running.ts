import { setMaxListeners } from 'node:events';
import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import { drive } from '../engine/drive.ts';
import { Inbox } from '../engine/inbox.ts';
import { EventStream } from '../observers/event-stream.ts';
import { heedStops } from './heed-stops.ts';
import { type Expedition, worldOf } from './world.ts';

/** Where a run takes place. What is left out is taken from this process. */
export interface Place {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Told every event once it is on disk. What it throws is not our trouble. */
  readonly observe?: (event: Event) => void;
  /** Told what agents are doing at this moment, as it happens; without it nobody looks. */
  readonly watch?: (activity: Activity) => void;
}

/** A run that is under way in this process. */
export interface Running {
  readonly id: string;
  /** What happens from the moment this is first asked for. */
  readonly events: AsyncIterable<Event>;
  /** The run as it stands when nothing is due any more. */
  readonly finished: Promise<Run>;
  /** Starts nothing new and lets what runs come to its end; `interrupted` is the user at the keyboard. */
  stop(by?: 'stopped' | 'interrupted'): void;
  /** Ends what runs. The run can be resumed. */
  kill(): void;
}

/** Sets a run going, in the background, with everybody told who wants to know. */
export function setOff(
  expedition: Expedition,
  first: readonly Event[],
  signals: readonly Signal[],
  { observe, watch }: Place,
): Running {
  const { run, store, staging } = expedition;
  const inbox = new Inbox<Signal>();
  const stopping = new AbortController();
  const killing = new AbortController();
  // Every turn under way listens, and there may be thousands: that is no leak to be warned of.
  setMaxListeners(0, stopping.signal, killing.signal);
  let stream: EventStream | undefined;
  const tell = (events: readonly Event[]): void => {
    stream?.tell(events);
    for (const event of events) quietly(() => observe?.(event));
  };
  const notice = watch && ((activity: Activity): void => quietly(() => watch(activity)));
  for (const signal of signals) inbox.put(signal);

  const stop = (by: 'stopped' | 'interrupted' = 'stopped'): void => {
    inbox.put({ kind: 'stopped', at: staging.clock.now(), by });
    stopping.abort();
  };
  const kill = (): void => {
    if (!stopping.signal.aborted) stop();
    killing.abort();
  };

  const travel = async (): Promise<Run> => {
    const stopHeeding = heedStops(store, (stage) => (stage === 'now' ? kill() : stop()));
    staging.gone?.addEventListener('abort', () => {
      stopHeeding();
      store.abandon();
    });
    try {
      const control = { stopping: stopping.signal, killing: killing.signal };
      const { world, close } = await worldOf(expedition, control, tell, notice);
      world.tell(first);
      try {
        return await drive(run, world, inbox);
      } finally {
        await close();
      }
    } finally {
      stopHeeding();
      await store.close();
      stream?.end();
    }
  };
  const finished = new Promise<Run>((done, fail) => {
    setImmediate(() => travel().then(done, fail));
  });
  finished.catch(() => {});

  return {
    id: run.id,
    get events() {
      stream ??= new EventStream();
      return stream;
    },
    finished,
    stop,
    kill,
  };
}

/** A run that is given back as it was found. */
export function endedRun(run: Run): Running {
  const events = new EventStream();
  events.end();
  const nothing = (): void => {};
  return { id: run.id, events, finished: Promise.resolve(run), stop: nothing, kill: nothing };
}

/** An observer that throws must not stop a run. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {}
}
