import { setMaxListeners } from 'node:events';
import type { Activity } from '../core/activity.ts';
import type { Event } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import { drive } from '../engine/drive.ts';
import { Inbox } from '../engine/inbox.ts';
import { EventStream } from '../events/event-stream.ts';
import type { StopStage } from '../store/stop-request.ts';
import type { RunStore } from '../store/store.ts';
import { createWorld, type RunContext } from './world.ts';

/** Where a run takes place. What is left out is taken from this process. */
export interface RunEnvironment {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Told every event once it is on disk. What it throws is not our trouble. */
  readonly observe?: (event: Event) => void;
  /** Told what agents are doing at this moment, as it happens; without it nobody looks. */
  readonly watch?: (activity: Activity) => void;
}

/** A run that is under way in this process. */
export interface RunHandle {
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
export function launchRun(
  context: RunContext,
  firstEvents: readonly Event[],
  signals: readonly Signal[],
  { observe, watch }: RunEnvironment,
): RunHandle {
  const { run, store, runtime } = context;
  const inbox = new Inbox<Signal>();
  const stopping = new AbortController();
  const killing = new AbortController();
  // Every turn under way listens, and there may be thousands: that is no leak to be warned of.
  setMaxListeners(0, stopping.signal, killing.signal);
  let stream: EventStream | undefined;
  const notifyObservers = (events: readonly Event[]): void => {
    stream?.push(events);
    for (const event of events) ignoreErrors(() => observe?.(event));
  };
  const onActivity = watch && ((activity: Activity): void => ignoreErrors(() => watch(activity)));
  for (const signal of signals) inbox.put(signal);

  const stop = (by: 'stopped' | 'interrupted' = 'stopped'): void => {
    inbox.put({ kind: 'stopped', at: runtime.clock.now(), by });
    stopping.abort();
  };
  const kill = (): void => {
    if (!stopping.signal.aborted) stop();
    killing.abort();
  };

  const driveToEnd = async (): Promise<Run> => {
    const stopWatching = watchStopRequests(store, (stage) => (stage === 'now' ? kill() : stop()));
    runtime.killed?.addEventListener('abort', () => {
      stopWatching();
      store.abandon();
    });
    try {
      const control = { stopping: stopping.signal, killing: killing.signal };
      const { world, close } = await createWorld(context, control, notifyObservers, onActivity);
      world.tell(firstEvents);
      try {
        return await drive(run, world, inbox);
      } finally {
        await close();
      }
    } finally {
      stopWatching();
      await store.close();
      stream?.end();
    }
  };
  const finished = new Promise<Run>((done, fail) => {
    setImmediate(() => driveToEnd().then(done, fail));
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
export function createEndedHandle(run: Run): RunHandle {
  const events = new EventStream();
  events.end();
  const noop = (): void => {};
  return { id: run.id, events, finished: Promise.resolve(run), stop: noop, kill: noop };
}

/** An observer that throws must not stop a run. */
function ignoreErrors(callback: () => void): void {
  try {
    callback();
  } catch {}
}

/** A look takes microseconds, and unlike notifications of changes it works on every file system. */
const STOP_POLL_INTERVAL_MS = 250;

/**
 * Does what somebody elsewhere asks of a run that is under way here, until the function that is returned is called.
 * The timer keeps this process alive, which nothing else does while a script runs: its end is its own, not ours.
 */
function watchStopRequests(store: RunStore, onStop: (stage: StopStage) => void): () => void {
  let handled: StopStage | null = null;
  const timer = setInterval(() => {
    const requested = store.requestedStop();
    if (requested === null || requested === handled) return;
    handled = requested;
    onStop(requested);
  }, STOP_POLL_INTERVAL_MS);
  return () => clearInterval(timer);
}
