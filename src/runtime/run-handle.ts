import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Activity } from '../core/activity.ts';
import type { Event, Printed } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import { drive } from '../engine/drive.ts';
import { Inbox } from '../engine/inbox.ts';
import { EventStream } from '../events/event-stream.ts';
import { type Uploads, writeAnswer } from '../store/answer-file.ts';
import type { StopMode } from '../store/stop-request.ts';
import type { RunStore } from '../store/store.ts';
import { writeWordRequest } from '../store/word-request.ts';
import type { AskBoard } from '../turns/ask-board.ts';
import { describeAnswerer } from './answerer.ts';
import { refuseFiles } from './handed-files.ts';
import { Notifier } from './notifier.ts';
import type { RunContext } from './run-context.ts';
import type { WordInbox } from './word-inbox.ts';
import { endedRunError, toWords } from './words.ts';
import { createWorld } from './world.ts';

/** The folder, environment and observers of a run. Folder and environment are by default those of this process. */
export interface RunEnvironment {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with every event once it is on disk. An exception in it is ignored. */
  readonly observe?: (event: Event) => void;
  /** Called with what agents are doing, as it happens; if it is left out, nothing is spent on it. */
  readonly watch?: (activity: Activity) => void;
  /** Whether a person watches and can answer questions: then the run waits for answers, unless an option says otherwise. */
  readonly attended?: boolean;
  /** Called only with retries of an API that fails, and only without `watch`: this costs nothing otherwise. */
  readonly watchRetries?: (activity: Activity) => void;
  /** Called with the text of each `<print>` as it comes, and only once; \`observe\` gets it at the end of its turn. */
  readonly watchPrints?: (printed: Printed) => void;
}

/** A run that is under way in this process. */
export interface RunHandle {
  readonly id: string;
  /** The run as it was when this process took it up. */
  readonly initial: Run;
  /** What was damaged of the run's files and had to be restored: a sentence each. */
  readonly damage: readonly string[];
  /** What went wrong after the last event, when the run has finished: a sentence each. */
  readonly afterthoughts: readonly string[];
  /** The events from the moment this is first read. */
  readonly events: AsyncIterable<Event>;
  /** The run as it stands when nothing is due any more. */
  readonly finished: Promise<Run>;
  /** Starts nothing new and lets running turns finish; `interrupted` means by Ctrl-C. */
  stop(by?: 'stopped' | 'interrupted'): void;
  /** Ends the running turns, too. The run can be resumed. */
  kill(): void;
  /** Says something to an agent: it is on disk when this resolves, and reaches the agent in its running turn or with its next prompt. */
  say(agent: string, text: string): Promise<void>;
  /** Interrupts the running turn of an agent, which goes on with the text in the same conversation, or asks if that is null. */
  interrupt(agent: string, text: string | null): Promise<void>;
  /** Answers a question that waits in this run, with the files that it asks for; false if it has ended already. */
  answer(ask: string, text: string, uploads?: Uploads): Promise<boolean>;
}

/** Starts driving a run in the background. `firstEvents` are on disk already; `signals` come before all others. */
export function launchRun(
  context: RunContext,
  firstEvents: readonly Event[],
  signals: readonly Signal[],
  { observe, watch, watchRetries, watchPrints }: RunEnvironment,
): RunHandle {
  const { run, store, runtime, layout, damage } = context;
  let askBoard: AskBoard | undefined;
  let wordInbox: WordInbox | undefined;
  const inbox = new Inbox<Signal>();
  const stopping = new AbortController();
  const killing = new AbortController();
  // Every running turn listens, and there may be thousands: Node need not warn of a leak.
  setMaxListeners(0, stopping.signal, killing.signal);
  let stream: EventStream | undefined;
  const afterthoughts: string[] = [];
  const notifier = createNotifier(context, (about, message) => {
    if (hasEnded) afterthoughts.push(`warning: ${message}`);
    else inbox.put({ kind: 'noticed', at: runtime.clock.now(), about, message });
  });
  let hasEnded = false;
  const notifyObservers = (events: readonly Event[]): void => {
    hasEnded ||= events.some(({ kind }) => kind === 'run_ended');
    notifier?.observe(events);
    stream?.push(events);
    for (const event of events) ignoreErrors(() => observe?.(event));
  };
  const onActivity = watch && ((activity: Activity): void => ignoreErrors(() => watch(activity)));
  const onRetry = watchRetries && ((activity: Activity): void => ignoreErrors(() => watchRetries(activity)));
  const onPrint = watchPrints && ((printed: Printed): void => ignoreErrors(() => watchPrints(printed)));
  for (const signal of signals) inbox.put(signal);

  const stop = (by: 'stopped' | 'interrupted' = 'stopped'): void => {
    inbox.put({ kind: 'stopped', at: runtime.clock.now(), by });
    stopping.abort();
  };
  const kill = (): void => {
    if (!stopping.signal.aborted) stop();
    killing.abort();
  };

  const fail = (): void => inbox.fail(runtime.lost?.reason);
  if (runtime.lost?.aborted) fail();
  runtime.lost?.addEventListener('abort', fail, { once: true });

  const driveToEnd = async (): Promise<Run> => {
    const stopWatching = watchRequests(store, {
      onStop: (stage) => (stage === 'now' ? kill() : stop()),
      look: () => wordInbox?.look(),
    });
    runtime.killed?.addEventListener('abort', () => {
      stopWatching();
      store.abandon();
    });
    try {
      const onBoard = (board: AskBoard): void => {
        askBoard = board;
      };
      const onWords = (inbox: WordInbox): void => {
        wordInbox = inbox;
      };
      const send = (signal: Signal): void => inbox.put(signal);
      const signalsToTurns = { stopSignal: stopping.signal, killSignal: killing.signal };
      const control = { ...signalsToTurns, onActivity, onRetry, onPrint, send, onBoard, onWords };
      const { world, close } = await createWorld(context, control, notifyObservers);
      world.notify(firstEvents);
      try {
        runtime.leaving?.addEventListener('abort', () => inbox.wakeUp(), { once: true });
        return await drive(run, world, inbox, runtime.leaving ?? undefined);
      } finally {
        await close();
      }
    } finally {
      stopWatching();
      hasEnded = true;
      await store.close();
      await notifier?.close(killing.signal.aborted ? LAST_WORDS_MS : undefined);
      stream?.end();
    }
  };
  const finished = new Promise<Run>((done, fail) => {
    setImmediate(() => driveToEnd().then(done, fail));
  });
  finished.catch(() => {});

  const request = async (kind: 'say' | 'interrupt', agent: string, text: string | null): Promise<void> => {
    const words = text === null ? null : toWords(text);
    const facts = { id: randomUUID(), by: describeAnswerer(context.env), at: runtime.clock.now() };
    const folder = layout.wordsFolder(run.id);
    await writeWordRequest(folder, { kind, agent, text: words, ...facts }, runtime.storeOptions.durable);
    wordInbox?.look();
  };
  return {
    id: run.id,
    initial: run,
    damage,
    afterthoughts,
    get events() {
      stream ??= new EventStream();
      return stream;
    },
    finished,
    stop,
    kill,
    say: (agent, text) => request('say', agent, text),
    interrupt: (agent, text) => request('interrupt', agent, text),
    async answer(ask, text, uploads = []) {
      const question = askBoard?.find(ask);
      if (askBoard === undefined || question === undefined) return false;
      refuseFiles(question.uploads, uploads);
      const answer = { ask, text, by: describeAnswerer(context.env), answeredAt: runtime.clock.now() };
      const file = layout.answerFile(run.id, ask);
      const isFirst = await writeAnswer(file, answer, uploads, runtime.storeOptions.durable);
      askBoard.look();
      return isFirst;
    },
  };
}

/** A handle for a run that has ended already: nothing is started. */
export function createEndedHandle(run: Run, damage: readonly string[]): RunHandle {
  const events = new EventStream();
  events.end();
  const noop = (): void => {};
  const answer = async (): Promise<boolean> => false;
  const refuse = async (): Promise<never> => {
    throw endedRunError(run.id);
  };
  return {
    id: run.id,
    initial: run,
    damage,
    afterthoughts: [],
    events,
    finished: Promise.resolve(run),
    stop: noop,
    kill: noop,
    say: refuse,
    interrupt: refuse,
    answer,
  };
}

/** How long a command may take to tell that a run was ended at once. */
const LAST_WORDS_MS = 1_000;

/** What tells people about a run, if the user wants that; nothing does for a run that is only tested. */
function createNotifier(
  { run, options, env, runtime }: RunContext,
  warn: (about: { readonly agent: string; readonly state: string }, message: string) => void,
): Notifier | null {
  const { id: agent = 'main', state = '', cwd = process.cwd() } = run.agents[0] ?? {};
  if (options.notify === null || runtime.isSandbox) return null;
  return new Notifier({ run, command: options.notify, cwd, env, warn: (message) => warn({ agent, state }, message) });
}

/** An observer that throws must not stop a run. */
function ignoreErrors(callback: () => void): void {
  try {
    callback();
  } catch {}
}

/** A look takes microseconds and, unlike a watch, works on every file system. */
const REQUEST_POLL_INTERVAL_MS = 250;

/**
 * Calls `onStop` when another process asks this run to stop, and `look` to look for what people say; returns a function that
 * ends the watch. The timer also keeps this process alive, which nothing else does while a script runs.
 */
function watchRequests(
  store: RunStore,
  { onStop, look }: { readonly onStop: (stage: StopMode) => void; readonly look: () => void },
): () => void {
  let handled: StopMode | null = null;
  const timer = setInterval(() => {
    look();
    const requested = store.requestedStop();
    if (requested === null || requested === handled) return;
    handled = requested;
    onStop(requested);
  }, REQUEST_POLL_INTERVAL_MS);
  return () => clearInterval(timer);
}
