import { relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { formatJson } from '../../core/json.ts';
import type { Run } from '../../core/run.ts';
import { createRunDocument, exitCodeOf } from '../../events/run-document.ts';
import { RunTally } from '../../events/run-tally.ts';
import { sanitize } from '../../events/sanitize.ts';
import { findConfigFile, findDebugFolder, readRunEvents } from '../../runtime/project-files.ts';
import { renderRunEnd, renderSummary } from '../../terminal/summary.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { ParsedOptions } from '../command.ts';

/** A run as the command line saw it: whether anything was started, and the folder that it is saved for. */
export interface ReportedRun {
  readonly started: boolean;
  readonly cwd: string;
  /** The agents whose problem was printed last. */
  readonly alreadyReported: ReadonlySet<string>;
}

/** Prints the results of a run to stdout and its summary to stderr; returns the exit code. */
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
      ? `${formatJson(createRunDocument(run, events))}\n`
      : formatResults(run);
  // On one screen, empty lines set the results apart from the progress and the summary.
  const separator = results !== '' && outIsScreen && screen !== null && !options.quiet ? '\n' : '';
  err(separator);
  out(outIsScreen ? sanitize(results) : results);
  err(separator);

  const summaryOptions = {
    columns: screen?.size().columns ?? null,
    color: screen?.color ?? false,
    now: Date.now(),
    // Results on the same screen separate the summary from the problem that was printed before.
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

/** Says where to find results that could not be printed; they do not change the exit code of the run. */
async function reportWriteError(id: string, { err, takeWriteError }: Terminal): Promise<void> {
  // Streams report errors a moment later.
  await setImmediate();
  const writeError = takeWriteError?.() ?? null;
  if (writeError === null) return;
  err(`The output could not be written (${writeError}); \`raymond status ${id}\` shows the results.\n`);
}

/** One result as it is; several under the names of their agents, that of the main agent last. */
function formatResults({ agents }: Run): string {
  const ordered = agents.toSorted((a, b) => Number(a.parent === null) - Number(b.parent === null));
  const results = ordered.flatMap(({ id, phase }) => (phase.kind === 'ended' ? [{ id, text: phase.result }] : []));
  return results.map(({ id, text }) => `${agents.length === 1 ? '' : `[${id}]\n`}${text}\n`).join('');
}

/** The path relative to the current folder, unless that is longer. */
function pickShorterPath(path: string, cwd: string): string {
  const relativePath = relative(cwd, path);
  return relativePath.length < path.length ? relativePath : path;
}
