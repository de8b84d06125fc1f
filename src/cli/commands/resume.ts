import type { RunPlace } from '../../app/launcher.ts';
import { listUnfinishedFirst, type RunListEntry, type RunSummary } from '../../app/list-runs.ts';
import type { RaymondError } from '../../errors.ts';
import { formatAge, formatObservedStatus } from '../../render/format.ts';
import { renderTable } from '../../render/terminal/table.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, WAIT_AT_MOST_MS, withStorage } from '../open-storage.ts';
import { refuseOptions } from '../parsed-options.ts';
import { addConfiguredView, leaveRun, refuseNodeOptions, runAndReport } from '../run-and-report.ts';
import { parseRunOptions } from '../run-options.ts';
import { confirmTrustOfRun } from '../trust-questions.ts';

const RUN_ONLY_OPTIONS = ['input', 'dir', 'name', 'runId'];

/** `raymond resume [RUN]`: the run remembers its options; those given now override them. */
export const handleResume: CommandHandler = async ([requestedRun], options, terminal) => {
  refuseOptions(options, RUN_ONLY_OPTIONS, 'resume');
  return withStorage(
    findDatabaseAddress(options, terminal),
    terminal,
    (place) => resumeIn(place, requestedRun, options, terminal),
    WAIT_AT_MOST_MS,
  );
};

async function resumeIn(
  place: RunPlace,
  requestedRun: string | undefined,
  options: ParsedOptions,
  terminal: Terminal,
): Promise<number> {
  const id = requestedRun ?? findOnlyResumable(await listUnfinishedFirst(place.storage), place.storage.clock.now());
  const request = {
    cwd: terminal.cwd,
    env: terminal.env,
    options: parseRunOptions(options, terminal.cwd),
    retry: options.retry === true,
    takeOver: options.takeOver === true,
    acceptChangedCode: options.refuseChangedCode !== true,
    // The options stored with a run are confirmed below.
    acceptsStored: true,
  };
  const { launcher } = place;
  if (launcher.isLocal) await confirmTrustOfRun(id, request.options, terminal);
  refuseNodeOptions(options, launcher);
  if (options.detach === true) return leaveRun(() => launcher.resume(id, request), terminal);
  return runAndReport(
    (observers) => launcher.resume(id, { ...request, ...observers }),
    addConfiguredView(options, terminal),
    terminal,
    place,
  );
}

const MAX_LISTED_RUNS = 10;

/** The run that is meant if none is named: the only one that can be resumed. */
function findOnlyResumable(runs: readonly RunListEntry[], now: number): string {
  const [only, second, ...others] = runs.filter((run) => run.kind === 'run').filter(isResumable);
  if (only === undefined) throw usageError('there is no run to resume', '`raymond list` shows the runs there are.');
  if (second === undefined) return only.id;
  throw createAmbiguousRunError([only, second, ...others], now);
}

/** An error that lists the runs to choose from. */
function createAmbiguousRunError(resumable: readonly RunSummary[], now: number): RaymondError {
  const columns = [
    { title: '', cell: ({ id }: RunSummary) => `  ${id}` },
    { title: '', cell: ({ observedStatus }: RunSummary) => formatObservedStatus(observedStatus) },
    { title: '', cell: ({ startedAt }: RunSummary) => `${formatAge(startedAt, now)} ago` },
  ];
  const context = { columns: Number.POSITIVE_INFINITY, colorize: (_: unknown, text: string) => text, now };
  const lines = renderTable(resumable.slice(0, MAX_LISTED_RUNS), columns, context);
  const more = resumable.length > MAX_LISTED_RUNS ? '\n  … `raymond list` shows all' : '';
  return usageError(
    'there is more than one run to resume',
    `Name one of these, or "last" for the latest:\n${lines.join('\n')}${more}`,
  );
}

/** A failed run counts: with --retry it can be resumed. */
const isResumable = ({ observedStatus }: RunSummary): boolean =>
  !['running', 'stopping', 'elsewhere', 'completed'].includes(observedStatus);
