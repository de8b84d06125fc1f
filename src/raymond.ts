import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { resolve } from 'node:path';
import type { Event } from './core/event.ts';
import { runId } from './core/ids.ts';
import { isPrompt, type Platform } from './core/names.ts';
import { changedOptions, DEFAULT_OPTIONS, newRun, type Options, type Run } from './core/run.ts';
import type { Signal } from './core/signal.ts';
import { canResume } from './core/signals/resumed.ts';
import type { Finding } from './core/state.ts';
import { opening } from './core/step.ts';
import { drive } from './engine/drive.ts';
import { Inbox } from './engine/inbox.ts';
import { EXIT, RaymondError } from './errors.ts';
import { EventStream } from './observers/event-stream.ts';
import { readEvents } from './store/events.ts';
import { findRaymondFolder, layoutOf } from './store/layout.ts';
import { findRun } from './store/runs.ts';
import { createRun, openStore } from './store/store.ts';
import { type ClaudeCode, findClaude } from './turns/claude/version.ts';
import { showFinding } from './workflow/invalid.ts';
import { openWorkflow, type Workflow } from './workflow/load.ts';
import { type Expedition, worldOf } from './world.ts';

export { documentOf, exitCodeOf } from './observers/document.ts';
export { lineOf } from './observers/words.ts';
export { openWorkflow, type Workflow } from './workflow/load.ts';

/** Where a run takes place. What is left out is taken from this process. */
export interface Place {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Told every event once it is on disk. What it throws is not our trouble. */
  readonly observe?: (event: Event) => void;
}

export interface RunRequest extends Place {
  readonly options?: Partial<Options>;
  /** The value of `{{result}}` in the first state. */
  readonly input?: string;
  readonly runId?: string;
}

export interface ResumeRequest extends Place {
  /** Options that are to be different from now on. */
  readonly options?: Partial<Options>;
  /** Takes up failed agents again, and scripts that died midway. */
  readonly retry?: boolean;
  /** Takes the run from an owner on another machine that cannot be asked. */
  readonly takeOver?: boolean;
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

/** Starts a run of a workflow: a state file, a folder or a zip. */
export async function runWorkflow(path: string, request: RunRequest = {}): Promise<Running> {
  const cwd = resolve(request.cwd ?? process.cwd());
  const options = changedOptions(DEFAULT_OPTIONS, request.options ?? {});
  const env = request.env ?? process.env;
  const workflow = await openWorkflow(resolve(cwd, path), platform());
  const claude = claudeFinder(options, env);
  if (await hasPrompts(workflow)) await claude();
  const startedAt = Date.now();
  const offset = -new Date(startedAt).getTimezoneOffset();
  const run = newRun({
    id: request.runId ?? runId(workflow.name, startedAt, offset, randomBytes(2).toString('hex')),
    workflow: { name: workflow.name, path: workflow.path, platform: workflow.platform },
    startedAt,
    options,
    state: workflow.entry,
    cwd,
    input: request.input ?? null,
  });
  const layout = layoutOf(findRaymondFolder(cwd));
  const warn = (finding: Finding): Event => {
    return { kind: 'warning', at: startedAt, agent: 'main', state: workflow.entry, message: showFinding(finding) };
  };
  const events = [...opening(run), ...workflow.findings.map(warn)];
  const store = await createRun(layout, run, events);
  return setOff({ run, options, layout, store, workflow, env, claude }, events, [], request.observe);
}

/** Goes on with a run that was paused, stopped, interrupted or killed. An ended one is given back as it is. */
export async function resumeRun(id: string, request: ResumeRequest = {}): Promise<Running> {
  const layout = layoutOf(findRaymondFolder(request.cwd ?? process.cwd()));
  const { run, store } = await openStore(layout, await findRun(layout, id), { takeOver: request.takeOver ?? false });
  const { retry = false, options: changes = {}, env = process.env } = request;
  try {
    if (!canResume(run, retry)) {
      await store.close();
      return endedRun(run);
    }
    const workflow = await openWorkflow(run.workflow.path, run.workflow.platform).catch((error) => {
      throw isGone(error) ? goneWorkflow(run, error) : error;
    });
    const resumed: Signal = { kind: 'resumed', at: Date.now(), options: changes, retry, scope: await workflow.scope() };
    const options = changedOptions(run.options, changes);
    const claude = claudeFinder(options, env);
    return setOff({ run, options, layout, store, workflow, env, claude }, [], [resumed], request.observe);
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** The config file of whoever works in this folder; it may not exist. */
export const configFile = (cwd = process.cwd()): string => layoutOf(findRaymondFolder(cwd)).config;

/** All events of a run that is on disk, in order. */
export async function recordedEvents(id: string, cwd = process.cwd()): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const { event } of readEvents(layoutOf(findRaymondFolder(cwd)), id)) events.push(event);
  return events;
}

/** Sets a run going, in the background, with everybody told who wants to know. */
function setOff(
  expedition: Expedition,
  first: readonly Event[],
  signals: readonly Signal[],
  observe: ((event: Event) => void) | undefined,
): Running {
  const { run, store } = expedition;
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
  for (const signal of signals) inbox.put(signal);

  const travel = async (): Promise<Run> => {
    // Nothing else keeps this process alive while a script runs: its end is its own, not ours.
    const alive = setInterval(() => {}, 60_000);
    try {
      const { world, close } = await worldOf(expedition, { stopping: stopping.signal, killing: killing.signal }, tell);
      world.tell(first);
      try {
        return await drive(run, world, inbox);
      } finally {
        await close();
      }
    } finally {
      clearInterval(alive);
      await store.close();
      stream?.end();
    }
  };
  const finished = new Promise<Run>((done, fail) => {
    setImmediate(() => travel().then(done, fail));
  });
  finished.catch(() => {});

  const stop = (by: 'stopped' | 'interrupted' = 'stopped'): void => {
    inbox.put({ kind: 'stopped', at: Date.now(), by });
    stopping.abort();
  };
  return {
    id: run.id,
    get events() {
      stream ??= new EventStream();
      return stream;
    },
    finished,
    stop,
    kill() {
      if (!stopping.signal.aborted) stop();
      killing.abort();
    },
  };
}

const isGone = (error: unknown): boolean => error instanceof RaymondError && error.exitCode === EXIT.usage;

const goneWorkflow = (run: Run, cause: unknown): RaymondError =>
  new RaymondError(`The workflow of run ${run.id} cannot be opened at ${run.workflow.path}.`, {
    exitCode: EXIT.usage,
    hint: 'Put it back there, then resume the run.',
    cause,
  });

/** A run that is given back as it was found. */
function endedRun(run: Run): Running {
  const events = new EventStream();
  events.end();
  const nothing = (): void => {};
  return { id: run.id, events, finished: Promise.resolve(run), stop: nothing, kill: nothing };
}

/** Looks for Claude Code once, when it is first needed. */
function claudeFinder({ claude }: Options, env: NodeJS.ProcessEnv): () => Promise<ClaudeCode> {
  let found: Promise<ClaudeCode> | undefined;
  return () => {
    found ??= findClaude(claude, env);
    return found;
  };
}

/** Whether Claude Code is needed at all; a README beside the states says nothing about that. */
async function hasPrompts(workflow: Workflow): Promise<boolean> {
  const { files } = await workflow.scope();
  return files.some((file) => isPrompt(file) && file !== 'README.md');
}

const platform = (): Platform => (process.platform === 'win32' ? 'windows' : 'unix');

/** An observer that throws must not stop a run. */
function quietly(act: () => void): void {
  try {
    act();
  } catch {}
}
