import { listUnfinishedFirst, type RunListEntry, type RunSummary } from '../../app/list-runs.ts';
import { openFiles } from '../../app/open-files.ts';
import { resumeRun } from '../../app/resume.ts';
import type { ObservedStatus } from '../../core/run/status.ts';
import { toRunListDocument } from '../../documents/run-document.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { formatCount, formatObservedStatus } from '../../render/format.ts';
import { createRenderContext, type Terminal } from '../../render/terminal/terminal.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress } from '../open-storage.ts';
import { refuseOptions } from '../parsed-options.ts';
import { renderRunTable } from '../reports/run-table.ts';
import { addConfiguredView, runAndReport } from '../run-and-report.ts';
import { confirmTrustOfRun, refuseForeignRun } from '../trust-questions.ts';

/** `raymond recover`: lists the runs whose process has died; with --resume it resumes them, several at the same time. */
export const handleRecover: CommandHandler = async (_, options, terminal) => {
  if (findDatabaseAddress(options, terminal) !== null)
    throw usageError(
      'runs in a database need no recovery: their nodes continue them as soon as they are back',
      '`raymond list` shows the runs, `raymond status RUN` what one waits for. --no-database: the runs in files here.',
    );
  if (options.resume !== true)
    refuseOptions(options, ['retry', 'quiet', 'verbose', 'logFile'], 'recover without --resume');
  const all = await listUnfinishedFirst(openFiles(terminal.cwd, terminal.env).storage);
  const isMeant = options.retry === true ? (run: RunListEntry) => isCrashed(run) || isPausedByCrash(run) : isCrashed;
  const runs = all.filter(isMeant);
  if (options.resume === true) return resumeAll(runs, all, options, terminal);
  if (options.json) terminal.out(`${formatJson(toRunListDocument(runs))}\n`);
  else if (runs.length === 0) terminal.err(NOTHING_TO_RECOVER);
  else {
    terminal.out(`${renderRunTable(runs, createRenderContext(terminal)).join('\n')}\n`);
    terminal.err(
      `${runs.length === 1 ? 'Its process has' : 'Their processes have'} died. To continue: raymond recover --resume\n`,
    );
  }
  return EXIT.completed;
};

const NOTHING_TO_RECOVER = 'Nothing to recover: no run has lost its process.\n';

const isCrashed = (run: RunListEntry): boolean => run.kind === 'run' && run.observedStatus === 'crashed';

/** True if an earlier recovery left the run paused, because nobody knows what one of its turns did. */
const isPausedByCrash = (run: RunListEntry): boolean => run.kind === 'run' && run.isCutShort;

/** Exit codes, the most severe first. */
const EXIT_CODES_BY_SEVERITY: readonly number[] = [
  EXIT.interrupted,
  EXIT.invalid,
  EXIT.usage,
  EXIT.limit,
  EXIT.paused,
  EXIT.waiting,
  EXIT.failed,
  EXIT.completed,
];

/** The runs that may work at the same time, beside those that wait for a usage limit: each may have several Claude Codes. */
const MAX_WORKING_RUNS = 8;

/** Resumes each run until it ends, and says which others were left alone. An interrupt keeps further ones from starting. */
async function resumeAll(
  runs: readonly RunListEntry[],
  all: readonly RunListEntry[],
  options: ParsedOptions,
  terminal: Terminal,
): Promise<number> {
  if (runs.length === 0) terminal.err(NOTHING_TO_RECOVER);
  const { permitted, refusals } = await confirmTrust(runs, terminal);
  let interrupted = false;
  const stopListening = terminal.onInterrupt(() => {
    interrupted = true;
  });
  const codes = await runWithinLimit(
    [...permitted.entries()],
    MAX_WORKING_RUNS,
    ([at, id], release) => {
      const isOnly = permitted.length === 1;
      terminal.err(`Resuming ${id}${isOnly ? '' : ` (${at + 1} of ${permitted.length})`}\n`);
      return resumeOne(id, options, isOnly ? terminal : labelOutput(terminal, id, options), release);
    },
    () => interrupted,
  ).finally(stopListening);
  const remaining = permitted.length - codes.length;
  if (remaining > 0)
    terminal.err(`${formatCount(remaining, 'run')} not resumed. To continue: raymond recover --resume\n`);
  for (const line of describeLeftAlone(all.filter((run) => !runs.includes(run)))) terminal.err(`${line}\n`);
  return EXIT_CODES_BY_SEVERITY.find((code) => [...refusals, ...codes].includes(code)) ?? EXIT.completed;
}

/** Asks about one run after the other, before the first one starts; those that may not continue are left out and reported. */
async function confirmTrust(
  runs: readonly RunListEntry[],
  terminal: Terminal,
): Promise<{ readonly permitted: readonly string[]; readonly refusals: readonly number[] }> {
  const permitted: string[] = [];
  const refusals: number[] = [];
  for (const { id } of runs) {
    const refusal = await reportError(id, terminal, async () => {
      await refuseForeignRun(id, terminal);
      await confirmTrustOfRun(id, {}, terminal);
    });
    if (refusal === undefined) permitted.push(id);
    else refusals.push(refusal);
  }
  return { permitted, refusals };
}

/** Resumes one run; if it cannot be resumed, the error is printed and the others still are. */
async function resumeOne(id: string, options: ParsedOptions, terminal: Terminal, release: () => void): Promise<number> {
  const { cwd, env } = terminal;
  let code: number = EXIT.completed;
  const failed = await reportError(id, terminal, async () => {
    code = await runAndReport(
      ({ observe, ...observers }) =>
        resumeRun(id, {
          cwd,
          env,
          retry: options.retry === true,
          ...observers,
          observe(event) {
            observe?.(event);
            if (event.kind === 'sleeping' && event.why === 'usage_limit') release();
          },
        }),
      addConfiguredView(options, terminal),
      terminal,
      openFiles(cwd, env),
    );
  });
  return failed ?? code;
}

/** Prints an error of a run and returns its exit code; undefined if there was none. */
async function reportError(id: string, { err }: Terminal, action: () => Promise<void>): Promise<number | undefined> {
  try {
    await action();
    return undefined;
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    err(`${id}: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
    return error.exitCode;
  }
}

/** A terminal on which the lines of one run can be told from those of the others. There is no live view: it needs a screen. */
function labelOutput(terminal: Terminal, id: string, { json }: ParsedOptions): Terminal {
  const labelLines = (text: string): string => text.replace(/^(?=.)/gm, `${id} | `);
  return {
    ...terminal,
    screen: null,
    err: (text) => terminal.err(labelLines(text)),
    out: (text) => text !== '' && terminal.out(json ? text : `[${id}]\n${text}`),
  };
}

/**
 * Handles all items, several at the same time. One that calls `release` does not count any more, so that those that only wait
 * hold up no others. Once `isStopped` says so, no further item begins; the results are those of the items that have begun.
 */
export async function runWithinLimit<Item, Result>(
  items: readonly Item[],
  limit: number,
  handle: (item: Item, release: () => void) => Promise<Result>,
  isStopped: () => boolean,
): Promise<readonly Result[]> {
  const results: Promise<Result>[] = [];
  const waiting = [...items];
  let working = 0;
  const startMore = (): void => {
    while (working < limit && !isStopped()) {
      const item = waiting.shift();
      if (item === undefined) return;
      working += 1;
      const release = once(() => {
        working -= 1;
        startMore();
      });
      results.push(handle(item, release).finally(release));
    }
  };
  startMore();
  // Others are added while these end.
  for (let at = 0; at < results.length; at++) await results[at]?.catch(() => {});
  return Promise.all(results);
}

function once(action: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    action();
  };
}

const MAX_LISTED = 5;

/** Says which unfinished runs `recover` does not resume, and why: a line for each reason. */
function describeLeftAlone(runs: readonly RunListEntry[]): readonly string[] {
  const readable = runs.filter((run) => run.kind === 'run' && !run.isCutShort) as readonly RunSummary[];
  const withStatus = (...statuses: readonly ObservedStatus[]): readonly RunSummary[] =>
    readable.filter(({ observedStatus }) => statuses.includes(observedStatus));
  const reasons: readonly (readonly [why: string, runs: readonly string[]])[] = [
    ['a process drives it', withStatus('running', 'stopping').map(({ id, owner }) => `${id} (${owner?.pid ?? '?'})`)],
    [
      'its process cannot be checked from here; if it is gone, `raymond resume RUN --take-over`',
      withStatus('elsewhere').map(({ id, owner }) => `${id} (${owner?.pid ?? '?'} on ${owner?.host ?? '?'})`),
    ],
    [
      'a turn of it was cut short, and may have done half its work; `raymond recover --resume --retry` takes it again',
      runs.flatMap((run) => (run.kind === 'run' && run.isCutShort ? [`${run.id} (paused)`] : [])),
    ],
    [
      'its process did not die; `raymond status RUN` says what it waits for and how to continue',
      withStatus('paused', 'interrupted', 'budget_exceeded', 'iteration_limit').map(
        ({ id, observedStatus }) => `${id} (${formatObservedStatus(observedStatus)})`,
      ),
    ],
    [
      'it waits for the answer of a person; `raymond asks` shows the questions',
      withStatus('waiting').map(({ id }) => id),
    ],
    ['it cannot be read; `raymond list` says why', runs.flatMap((run) => (run.kind === 'unreadable' ? [run.id] : []))],
  ];
  return reasons.flatMap(([why, names]) => (names.length === 0 ? [] : [`Left alone: ${listNames(names)}: ${why}.`]));
}

function listNames(names: readonly string[]): string {
  const more = names.length - MAX_LISTED;
  return `${names.slice(0, MAX_LISTED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
