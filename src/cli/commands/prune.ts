import type { RunPlace } from '../../app/launcher.ts';
import { findPrunableRuns, keptWorktrees, type PrunableRun, pruneRuns } from '../../app/prune.ts';
import type { ObservedStatus } from '../../core/run/status.ts';
import type { PruneDocument } from '../../documents/types.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { didYouMean } from '../../language/text/nearest.ts';
import { formatAge, formatBytes, formatCount, formatObservedStatus } from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import { createRenderContext, type Terminal } from '../../render/terminal/terminal.ts';
import { PRUNE_STATUSES } from '../choices.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { getCountOption, getTextOption, parseAgeMs, refuseOptions } from '../parsed-options.ts';

/** `raymond prune [RUN...]`: shows which runs would be removed, and removes them with --yes. */
export const handlePrune: CommandHandler = async (runs, options, terminal) =>
  withStorage(findDatabaseAddress(options, terminal), terminal, (place) => pruneIn(place, runs, options, terminal));

async function pruneIn(
  place: RunPlace,
  runs: readonly string[],
  options: ParsedOptions,
  terminal: Terminal,
): Promise<number> {
  const { out, err } = terminal;
  if (runs.length > 0) refuseOptions(options, ['olderThan', 'status', 'keep'], 'names of runs');
  const now = Date.now();
  const request = {
    now,
    runs,
    statuses: parseStatuses(getTextOption(options, 'status')),
    olderThanMs: parseAge(getTextOption(options, 'olderThan')),
    keep: getCountOption(options, 'keep') ?? 0,
  };
  const found = await findPrunableRuns(place, request, (message) => err(`warning: ${sanitizeLine(message)}\n`));
  const isReal = options.yes === true || options.force === true;
  if (!isReal) {
    if (options.json) out(`${formatJson(toDocument(found, []))}\n`);
    else reportPlan(found, now, terminal);
    return EXIT.completed;
  }
  const removed: PrunableRun[] = [];
  await pruneRuns(place, found, (run, error) => {
    if (error === null) removed.push(run);
    else err(`${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
  });
  if (options.json) out(`${formatJson(toDocument(found, removed))}\n`);
  else out(`Removed ${formatCount(removed.length, 'run')}: ${formatBytes(sumBytes(removed))}.\n`);
  err(describeKeptWorktrees(removed.flatMap(keptWorktrees)));
  return removed.length === found.length ? EXIT.completed : EXIT.usage;
}

/** Reads `--status`: words as `raymond list` shows them, separated by commas, or `any`. */
function parseStatuses(written = 'completed'): ReadonlySet<ObservedStatus> {
  if (written === 'any') return new Set(PRUNE_STATUSES);
  const words = written.split(',').map((word) => word.trim().replace(/[ -]/g, '_'));
  return new Set(
    words.map((word) => {
      const status = PRUNE_STATUSES.find((each) => each === word);
      if (status !== undefined) return status;
      const known = PRUNE_STATUSES.map(formatObservedStatus);
      throw usageError(
        `--status must be any or some of ${known.join(', ')}, not \`${word}\`${didYouMean(word, PRUNE_STATUSES)}`,
        'Runs that are running, stopping or elsewhere are never removed.',
      );
    }),
  );
}

/** Reads `--older-than`, in milliseconds. */
function parseAge(written: string | undefined): number {
  if (written === undefined) return 0;
  const ageMs = parseAgeMs(written);
  if (ageMs === undefined) throw usageError(`--older-than must be an age such as 30d, 12h or 2w, not \`${written}\``);
  return ageMs;
}

function reportPlan(found: readonly PrunableRun[], now: number, terminal: Terminal): void {
  const { out, err } = terminal;
  if (found.length === 0) {
    err('There is nothing to remove. Without --status, only completed runs are meant.\n');
    return;
  }
  const columns: readonly Column<PrunableRun>[] = [
    { title: 'RUN', cell: ({ id }) => id },
    { title: 'STATUS', cell: ({ status }) => formatPrunableStatus(status) },
    { title: 'LAST CHANGE', cell: ({ changedAt }) => `${formatAge(changedAt, now)} ago`, align: 'right' },
    { title: 'SIZE', cell: ({ bytes }) => formatBytes(bytes), align: 'right' },
  ];
  out(`${renderTable(found, columns, createRenderContext(terminal)).join('\n')}\n`);
  const removable = found.filter(({ obstacle }) => obstacle === undefined);
  err(
    `Nothing was removed yet. With --yes, ${formatCount(removable.length, 'run')} and ${formatBytes(sumBytes(removable))} would go, for good.\n`,
  );
  for (const { id, obstacle } of found) if (obstacle !== undefined) err(`${id} stays: ${sanitizeLine(obstacle)}.\n`);
  err(describeKeptWorktrees(found.flatMap(({ worktrees }) => worktrees.filter(({ holds }) => holds === 'work'))));
}

const formatPrunableStatus = (status: PrunableRun['status']): string =>
  status === null ? 'unreadable' : status === 'half_removed' ? 'half removed' : formatObservedStatus(status);

/** Says that worktrees stay, and how to see them. */
const describeKeptWorktrees = ({ length: count }: readonly unknown[]): string =>
  count === 0
    ? ''
    : `${formatCount(count, 'worktree')} ${count === 1 ? 'holds' : 'hold'} work and ${count === 1 ? 'stays' : 'stay'}: raymond worktrees lists ${count === 1 ? 'it' : 'them'}.\n`;

const sumBytes = (runs: readonly PrunableRun[]): number => runs.reduce((sum, { bytes }) => sum + bytes, 0);

const toDocument = (found: readonly PrunableRun[], removed: readonly PrunableRun[]): PruneDocument => ({
  runs: found.map((run) => ({
    run_id: run.id,
    status: run.status ?? 'unreadable',
    changed_at: new Date(run.changedAt).toISOString(),
    bytes: run.bytes,
    worktrees: run.worktrees.length,
    removed: removed.includes(run),
  })),
  bytes: sumBytes(found),
});
