import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { Activity } from '../core/run/activity.ts';
import type { Event, Printed } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import type { Signal } from '../core/signals/signal.ts';
import { drive } from '../engine/drive.ts';
import { SignalQueue } from '../engine/signal-queue.ts';
import type { Question } from '../language/ask.ts';
import type { Clock } from '../process/clock.ts';
import { EventStream } from '../render/event-stream.ts';
import { type AnswerPlace, putAnswer, type Uploads } from '../storage/answers.ts';
import type { StopMode } from '../storage/requests.ts';
import { describeAnswerer } from './answerer.ts';
import { readAnswerText, refuseFiles } from './handed-files.ts';
import { Notifier } from './notifier.ts';
import type { RequestHandler } from './request-handler.ts';
import type { RunContext } from './run-context.ts';
import { endedRunError, toMessageText } from './words.ts';
import { createWorld } from './world.ts';

/** The folder, environment and observers of a run. Folder and environment are by default those of this process. */
export interface RunEnvironment {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Called with every event once it is on disk. An exception in it is ignored. */
  readonly observe?: (event: Event) => void;
  /** Called with what agents are doing, as it happens; if it is left out, nothing is spent on it. */
  readonly watch?: (activity: Activity) => void;
  /** True if a person watches and can answer questions: then the run waits for answers, unless an option says otherwise. */
  readonly attended?: boolean;
  /** Called only with retries of an API that fails, and only without `watch`: this costs nothing otherwise. */
  readonly watchRetries?: (activity: Activity) => void;
  /** Called with the text of each `<print>` as it comes, and only once; \`observe\` gets it at the end of its turn. */
  readonly watchPrints?: (printed: Printed) => void;
  /** Called with the agents whose turns wait for slots of their nodes, whenever these change; only for a run in a database. */
  readonly watchQueued?: (agents: ReadonlySet<string>) => void;
}

/** A run that is under way in this process. */
export interface RunHandle {
  readonly id: string;
  /** The run as it was when this process took it up. */
  readonly initial: Run;
  /** The damage to the run's files that was repaired: a sentence each. */
  readonly damage: readonly string[];
  /** The problems after the last event of a finished run: a sentence each. */
  readonly lateWarnings: readonly string[];
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
  /** Interrupts the running turn of an agent, which continues with the text in the same conversation, or asks if that is null. */
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
  const { run, lease, runtime, layout } = context;
  let requests: RequestHandler | undefined;
  const inbox = new SignalQueue<Signal>();
  const stopping = new AbortController();
  const killing = new AbortController();
  // Every running turn listens, and there may be thousands: Node need not warn of a leak.
  setMaxListeners(0, stopping.signal, killing.signal);
  let stream: EventStream | undefined;
  const lateWarnings: string[] = [];
  const notifier = createNotifier(context, (about, message) => {
    if (hasEnded) lateWarnings.push(`warning: ${message}`);
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

  const fail = (): void => inbox.fail(lease.lost.reason);
  if (lease.lost.aborted) fail();
  lease.lost.addEventListener('abort', fail, { once: true });

  const driveToEnd = async (): Promise<Run> => {
    // The timer also keeps this process alive, which nothing else does while a script runs.
    const polling = setInterval(() => requests?.look(), REQUEST_POLL_INTERVAL_MS);
    const stopPolling = (): void => clearInterval(polling);
    runtime.killed?.addEventListener('abort', () => {
      stopPolling();
      lease.abandon();
    });
    try {
      const onRequests = (handler: RequestHandler): void => {
        requests = handler;
      };
      const onStop = (mode: StopMode): void => (mode === 'now' ? kill() : stop());
      const send = (signal: Signal): void => inbox.put(signal);
      const signalsToTurns = { stopSignal: stopping.signal, killSignal: killing.signal };
      const control = { ...signalsToTurns, onActivity, onRetry, onPrint, send, onStop, onRequests };
      const { world, close } = await createWorld(context, control, notifyObservers);
      world.notify(firstEvents);
      try {
        runtime.leaving?.addEventListener('abort', () => inbox.wakeUp(), { once: true });
        return await drive(run, world, inbox, runtime.leaving ?? undefined);
      } finally {
        await close();
      }
    } finally {
      stopPolling();
      hasEnded = true;
      await lease.release();
      await notifier?.close(killing.signal.aborted ? LAST_WORDS_MS : undefined);
      stream?.end();
    }
  };
  const finished = new Promise<Run>((done, fail) => {
    setImmediate(() => driveToEnd().then(done, fail));
  });
  finished.catch(() => {});

  const talk = createTalk(runtime.openRequests(layout, runtime.storeOptions.durable ?? true), run.id, {
    env: context.env,
    clock: runtime.clock,
    findQuestion: async (ask) => requests?.findQuestion(ask),
    look: () => requests?.look(),
  });
  return {
    id: run.id,
    initial: run,
    damage: lease.damage,
    lateWarnings,
    get events() {
      stream ??= new EventStream();
      return stream;
    },
    finished,
    stop,
    kill,
    ...talk,
  };
}

/** The dependencies of a handle that talks to its run. */
interface TalkContext {
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Finds a question that waits. */
  readonly findQuestion: (ask: string) => Promise<Pick<Question, 'uploads' | 'choices' | 'permission'> | undefined>;
  /** Called after each request. */
  readonly look: () => void;
}

/** Creates the part of a handle with which a person talks to the run: requests to its inbox. */
export function createTalk(
  place: AnswerPlace,
  run: string,
  { env, clock, findQuestion, look }: TalkContext,
): Pick<RunHandle, 'say' | 'interrupt' | 'answer'> {
  const signature = (): { readonly by: string; readonly at: number } => ({
    by: describeAnswerer(env),
    at: clock.now(),
  });
  return {
    async say(agent, text) {
      const request = { kind: 'message', id: randomUUID(), agent, text: toMessageText(text), ...signature() } as const;
      await place.inbox.put(run, request);
      look();
    },
    async interrupt(agent, text) {
      const words = text === null ? null : toMessageText(text);
      await place.inbox.put(run, { kind: 'interrupt', id: randomUUID(), agent, text: words, ...signature() });
      look();
    },
    async answer(ask, text, uploads = []) {
      const question = await findQuestion(ask);
      if (question === undefined) return false;
      const chosen = readAnswerText(question, text, uploads.length > 0);
      refuseFiles(question.uploads, uploads);
      const { by, at: answeredAt } = signature();
      const isFirst = await putAnswer(place, run, { ask, text: chosen, by, answeredAt }, uploads);
      look();
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
    lateWarnings: [],
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

/** Creates the notifier of a run, if the user wants one; a run that is only tested has none. */
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
