import { appendFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { loadConfig } from '../app/config/load-config.ts';
import type { Launcher, RunPlace } from '../app/launcher.ts';
import { streamRunEvents } from '../app/run-files.ts';
import type { ViewOptions } from '../core/options/view-options.ts';
import type { Event } from '../core/run/event.ts';
import type { Run } from '../core/run/run.ts';
import { createEventDocument } from '../documents/event-document.ts';
import { EXIT, errorCodeOf } from '../errors.ts';
import { formatJson } from '../language/text/json.ts';
import { createPlainReporter, createQuietReporter, type Reporter } from '../render/terminal/reporter.ts';
import type { Terminal } from '../render/terminal/terminal.ts';
import type { RunStorage } from '../storage/storage.ts';
import type { RunEnvironment, RunHandle } from '../wiring/run-handle.ts';
import { type ParsedOptions, usageError } from './command.ts';
import { getRepeatedOption, getTextOption } from './parsed-options.ts';
import { reportRunEnd } from './reports/run-end.ts';

/** Those who watch a run for the user. */
export interface RunObservers extends RunEnvironment {
  /** Called with a sentence about what is not part of the run, such as a database that cannot be reached. */
  readonly warn: (sentence: string) => void;
}

/**
 * Starts a run, shows its progress, waits for its end, reports it and returns the exit code. `notice` is something else that
 * the user should know, and stands before all that. A run that nodes drive is only followed: Ctrl-C ends that, and not the run.
 */
export async function runAndReport(
  startRun: (observers: RunObservers) => Promise<RunHandle>,
  options: ParsedOptions,
  terminal: Terminal,
  { storage, launcher }: RunPlace,
  notice: string | null = null,
): Promise<number> {
  if (options.json && options.events) throw usageError('--json and --events both write to stdout: choose one');
  const reporter = await chooseReporter(options, terminal);
  const appendToLog = openLogFile(getTextOption(options, 'logFile'), terminal.cwd, reporter.warn);
  const reportedProblems = new ReportedProblems();
  /** The folder that the run is saved for: with --dir it is not the current one. */
  let cwd = terminal.cwd;
  let isRerun = false;
  let started = false;
  const observe = (event: Event): void => {
    started = true;
    if (event.kind === 'run_started') isRerun = event.rerunOf !== undefined;
    // A rerun has a folder of its own, and is saved where it was started.
    if (event.kind === 'agent_started' && event.parent === null && !isRerun) cwd = event.cwd;
    if (!options.quiet) reportedProblems.observe(event);
    runIgnoringErrors(
      () => appendToLog(event),
      () => options.events && terminal.out(`${formatJson(createEventDocument(event))}\n`),
      () => isSkippingPermissions(event) && reporter.warn(SKIP_PERMISSIONS_WARNING),
      () => event.kind === 'run_resumed' && reporter.addAgents(handle.initial.agents),
      () => event.kind === 'run_resumed' && reporter.loadPast?.(readEarlierEvents(handle.id, storage, event.at)),
      () => reporter.observe(event),
    );
  };
  const { watch, watchRetries, watchPrints, watchQueued } = reporter;
  const observers: RunObservers = {
    observe,
    attended: reporter.takeWords !== undefined,
    warn: reporter.warn,
    ...(watch && { watch }),
    ...(watchRetries && { watchRetries }),
    ...(watchPrints && { watchPrints }),
    ...(watchQueued && { watchQueued }),
  };
  let handle: RunHandle;
  try {
    if (notice !== null) reporter.warn(notice);
    handle = await startRun(observers);
    // Only now: to load a long journal takes as long as ever.
    terminal.saveMemory?.();
    reporter.takeWords?.(handle);
    for (const sentence of handle.damage) reporter.warn(sentence);
    const run = await waitUntilFinished(handle, reporter, terminal, !launcher.isLocal);
    await reporter.whenFree?.();
    for (const sentence of handle.lateWarnings) reporter.warn(sentence);
    reporter.close();
    return await reportRunEnd(
      run,
      { started, cwd, storage, launcher, alreadyReported: reportedProblems.agentIds },
      options,
      terminal,
    );
  } finally {
    reporter.close();
  }
}

/** Starts a run that continues by itself and prints its id. */
export async function leaveRun(
  startRun: (observers: Partial<RunObservers>) => Promise<RunHandle>,
  { out }: Terminal,
): Promise<number> {
  const handle = await startRun({});
  out(`${handle.id}\n`);
  // Only the following ends.
  handle.stop();
  await handle.finished.catch(() => {});
  return EXIT.completed;
}

/** Refuses options that only nodes can satisfy, for a run that this process is to drive. */
export function refuseNodeOptions(options: ParsedOptions, { isLocal }: Launcher): void {
  if (!isLocal) return;
  if (getRepeatedOption(options, 'label').length > 0) throw usageError('--label chooses a node: it needs a --database');
  if (options.detach === true)
    throw usageError('--detach leaves a run to the nodes of a database: it needs a --database');
}

/** Calls each of these, even if others fail: an observer must not disturb a run. */
function runIgnoringErrors(...actions: readonly (() => unknown)[]): void {
  for (const action of actions) {
    try {
      action();
    } catch {}
  }
}

/** Waits for the end of a run. The first Ctrl-C lets its turns finish, the second ends them. */
async function waitUntilFinished(
  handle: RunHandle,
  reporter: Reporter,
  { onInterrupt }: Terminal,
  isElsewhere: boolean,
): Promise<Run> {
  let interrupts = 0;
  const stopListening = onInterrupt(() => {
    interrupts += 1;
    if (!isElsewhere) reporter.interrupt(interrupts);
    if (interrupts === 1) handle.stop('interrupted');
    else handle.kill();
  });
  try {
    return await handle.finished;
  } finally {
    stopListening();
  }
}

/** The events of a run before it was resumed at that time. */
async function* readEarlierEvents(id: string, storage: RunStorage, resumedAt: number): AsyncGenerator<Event> {
  for await (const event of streamRunEvents(id, storage)) {
    if (event.kind === 'run_resumed' && event.at === resumedAt) return;
    yield event;
  }
}

const isSkippingPermissions = (event: Event): boolean =>
  (event.kind === 'run_started' || event.kind === 'run_resumed') && event.options.skipPermissions;

const SKIP_PERMISSIONS_WARNING =
  'warning: Claude Code may do anything without asking. Use this only with workflows you trust, on a machine you can afford to lose.';

/** Chooses how progress is shown: a live view on a terminal, plain lines elsewhere, or nothing. */
async function chooseReporter(options: ParsedOptions, { screen, err }: Terminal): Promise<Reporter> {
  const verbose = options.verbose === true;
  if (options.quiet) return createQuietReporter(err);
  if (screen === null || options.events) return createPlainReporter(err, verbose);
  return (await import('../render/terminal/live/live-reporter.ts')).createLiveReporter(screen, verbose);
}

const PROBLEM_KINDS: ReadonlySet<Event['kind']> = new Set(['agent_failed', 'agent_paused']);
const PROGRESS_KINDS: ReadonlySet<Event['kind']> = new Set(['turn_started', 'transition', 'agent_resumed']);

/** Remembers the agents whose problem was printed last: the summary need not repeat it right after. */
class ReportedProblems {
  private readonly agents = new Set<string>();

  observe(event: Event): void {
    if (PROGRESS_KINDS.has(event.kind)) this.agents.clear();
    if (PROBLEM_KINDS.has(event.kind) && 'agent' in event) this.agents.add(event.agent);
  }

  get agentIds(): ReadonlySet<string> {
    return this.agents;
  }
}

/**
 * Returns a function that appends events to a file as lines of JSON, or does nothing if there is no file. A file that
 * cannot be written at the start is an error; if writing fails later, it warns once and gives the file up.
 */
function openLogFile(file: string | undefined, cwd: string, warn: (line: string) => void): (event: Event) => void {
  if (file === undefined) return () => {};
  const path = resolve(cwd, file);
  try {
    appendFileSync(path, '', { mode: 0o600 });
  } catch (error) {
    throw usageError(
      `--log-file ${file} cannot be written (${errorCodeOf(error)})`,
      'Name a file in a folder that exists.',
    );
  }
  let isOpen = true;
  return (event) => {
    if (!isOpen) return;
    try {
      appendFileSync(path, `${formatJson(createEventDocument(event))}\n`);
    } catch (error) {
      isOpen = false;
      warn(
        `warning: --log-file ${file} can no longer be written (${errorCodeOf(error)}): it ends here, the run continues`,
      );
    }
  };
}

/** The options of the view that were given on the command line. */
export const parseViewFlags = ({ quiet, verbose, logFile, database }: ParsedOptions): Partial<ViewOptions> => ({
  ...(typeof quiet === 'boolean' && { quiet }),
  ...(typeof verbose === 'boolean' && { verbose }),
  ...(typeof logFile === 'string' && { logFile }),
  ...(typeof database === 'string' && { database }),
});

/** Adds options of the view to those of the command line, which go before them: --verbose also before a quiet config. */
export function addViewOptions(options: ParsedOptions, view: Partial<ViewOptions>): ParsedOptions {
  const { quiet, verbose, logFile } = options;
  return {
    ...options,
    quiet: quiet ?? (verbose === true ? false : view.quiet),
    verbose: verbose ?? (quiet === true ? false : view.verbose),
    logFile: logFile ?? view.logFile ?? undefined,
  };
}

/** Adds what the config files say about the view, as far as they are trusted. */
export const addConfiguredView = (options: ParsedOptions, { cwd, env }: Terminal): ParsedOptions =>
  addViewOptions(options, loadConfig(cwd, env).view);
