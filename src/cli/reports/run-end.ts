import { relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Run } from '../../core/run.ts';
import { createRunDocument, exitCodeOf } from '../../events/run-document.ts';
import { RunTally } from '../../events/run-tally.ts';
import { sanitize } from '../../events/sanitize.ts';
import { findConfigFile, findDebugFolder, readRunEvents } from '../../runtime/project-files.ts';
import { renderRunEnd, renderSummary } from '../../terminal/summary.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { ParsedOptions } from '../command.ts';

/** How a run was found: whether anything was started at all, and where it is on record. */
export interface ReportedRun {
  readonly started: boolean;
  readonly cwd: string;
  /** The agents whose trouble the user has read just now. */
  readonly alreadyReported: ReadonlySet<string>;
}

/** What there is to say when a run is over: results on stdout, the summary on stderr. Gives the exit code. */
export async function reportRunEnd(
  run: Run,
  reportedRun: ReportedRun,
  options: ParsedOptions,
  terminal: Terminal,
): Promise<number> {
  const { started, cwd, alreadyReported } = reportedRun;
  const { out, err, screen, outIsScreen = false } = terminal;
  const events = options.json || (started && !options.quiet) ? await readRunEvents(run.id, cwd) : [];
  const results = options.events
    ? ''
    : options.json
      ? `${JSON.stringify(createRunDocument(run, events))}\n`
      : formatResults(run);
  // Where both are read on one screen, the results stand apart from the story and the summary.
  const separator = results !== '' && outIsScreen && screen !== null && !options.quiet ? '\n' : '';
  err(separator);
  out(outIsScreen ? sanitize(results) : results);
  err(separator);

  const summaryOptions = {
    columns: screen?.size().columns ?? null,
    colour: screen?.colour ?? false,
    now: Date.now(),
    // Results on the same screen stand between what was told and what is told now.
    alreadyReported: separator === '' ? alreadyReported : NO_AGENTS,
    otherFolder: findConfigFile(cwd) === findConfigFile(terminal.cwd) ? null : pickShorterPath(cwd, terminal.cwd),
  };
  if (started && !options.quiet) {
    const tally = new RunTally();
    for (const event of events) tally.count(event);
    const folder = await findDebugFolder(run, cwd);
    const debugFolder = folder === null ? null : pickShorterPath(folder, terminal.cwd);
    err(renderSummary(run, tally, { ...summaryOptions, debugFolder }));
  } else {
    if (!options.quiet) err('This run has ended already; nothing was started.\n');
    err(
      renderRunEnd(run, summaryOptions, true)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
  await reportWriteError(run.id, terminal);
  return exitCodeOf(run);
}

const NO_AGENTS: ReadonlySet<string> = new Set();

/** What could not be printed is on record all the same, and the run is what it is. */
async function reportWriteError(id: string, { err, takeWriteError }: Terminal): Promise<void> {
  // Streams tell what went wrong a moment later.
  await setImmediate();
  const writeError = takeWriteError?.() ?? null;
  if (writeError === null) return;
  err(`What was to be printed could not be written (${writeError}); \`raymond status ${id}\` shows it.\n`);
}

/** One result as it is; several under the names of their agents, that of the first agent last: it sums the others up. */
function formatResults({ agents }: Run): string {
  const ordered = agents.toSorted((a, b) => Number(a.parent === null) - Number(b.parent === null));
  const results = ordered.flatMap(({ id, phase }) => (phase.kind === 'ended' ? [{ id, text: phase.result }] : []));
  return results.map(({ id, text }) => `${agents.length === 1 ? '' : `[${id}]\n`}${text}\n`).join('');
}

/** A path as it is written in this folder, unless that is longer. */
function pickShorterPath(path: string, cwd: string): string {
  const relativePath = relative(cwd, path);
  return relativePath.length < path.length ? relativePath : path;
}
