import { relative } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { findConfigFile } from '../../app/config/load-config.ts';
import type { RunPlace } from '../../app/launcher.ts';
import { findDebugFolder, readRunHistory, streamRunEvents } from '../../app/run-files.ts';
import { isSettled } from '../../core/run/agent.ts';
import { archivedCount } from '../../core/run/archive.ts';
import type { Run } from '../../core/run/run.ts';
import { createRunDocument, exitCodeOf } from '../../documents/run-document.ts';
import { formatJson } from '../../language/text/json.ts';
import { formatAgentLabel } from '../../render/agent-labels.ts';
import { collectHistory } from '../../render/run-history.ts';
import { renderRunEnd, renderSummary } from '../../render/terminal/summary.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import type { ParsedOptions } from '../command.ts';

/** True if agents of a run may have left worktrees; most runs have none, and need not load the code that looks for them. */
const mayHaveWorktrees = (run: Run): boolean =>
  run.workspace !== null ||
  run.rerunOf !== undefined ||
  archivedCount(run) > 0 ||
  run.agents.some(({ worktree }) => worktree !== null);

/** A run as the command line saw it: whether anything was started, and the folder that it is saved for. */
export interface ReportedRun extends RunPlace {
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
  const { started, cwd, storage, launcher, alreadyReported } = reportedRun;
  const { out, err, screen, outIsScreen = false } = terminal;
  // Only the document has all transitions: the rest is summed up while the run continues, however long it is.
  const history = options.json
    ? await collectHistory(streamRunEvents(run.id, storage), Number.POSITIVE_INFINITY)
    : await readRunHistory(run, storage);
  const results = options.events
    ? ''
    : options.json
      ? `${formatJson(createRunDocument(run, history))}\n`
      : formatResults(run);
  // On one screen, empty lines set the results apart from the progress and the summary.
  const separator = results !== '' && outIsScreen && screen !== null && !options.quiet ? '\n' : '';
  err(separator);
  out(results, 'exact');
  err(separator);

  const summaryOptions = {
    columns: screen?.size().columns ?? null,
    color: screen?.color ?? false,
    now: storage.clock.now(),
    warnings: history.warnings,
    worktrees: launcher.isLocal && mayHaveWorktrees(run) ? await launcher.worktrees.findRecorded(run.id) : [],
    // Results on the same screen separate the summary from the problem that was printed before.
    alreadyReported: separator === '' ? alreadyReported : NO_AGENTS,
    otherFolder:
      !launcher.isLocal || findConfigFile(cwd) === findConfigFile(terminal.cwd)
        ? null
        : pickShorterPath(cwd, terminal.cwd),
  };
  if (started && !options.quiet) {
    const folder = launcher.isLocal ? await findDebugFolder(run, cwd) : null;
    const debugFolder = folder === null ? null : pickShorterPath(folder, terminal.cwd);
    err(renderSummary(run, history, { ...summaryOptions, debugFolder }));
  } else {
    if (!options.quiet) err(describeNothingStarted(run));
    err(
      renderRunEnd(run, summaryOptions, true)
        .map((line) => `${line}\n`)
        .join(''),
    );
  }
  await reportWriteError(run.id, terminal);
  return exitCodeOf(run);
}

/** Says why a resume started nothing: the run is over, or what is left of it needs the user's word. */
function describeNothingStarted({ agents }: Run): string {
  const isOver = agents.every(
    (agent) => agent.phase.kind === 'failed' || agent.phase.kind === 'ended' || isSettled(agent),
  );
  return isOver
    ? 'This run has ended already; nothing was started.\n'
    : 'This run continues only with --retry; nothing was started.\n';
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

/**
 * The only result as it is; several under the names of their agents, that of the main agent last. Those of workers that were
 * joined have gone into the work of their parent.
 */
function formatResults({ agents }: Run): string {
  const shown = agents.filter(({ joinedBy }) => joinedBy === null);
  const ordered = shown.toSorted((a, b) => Number(a.parent === null) - Number(b.parent === null));
  const results = ordered.flatMap((agent) =>
    agent.phase.kind === 'ended' ? [{ label: formatAgentLabel(agent), text: agent.phase.result }] : [],
  );
  return results.map(({ label, text }) => `${shown.length === 1 ? '' : `[${label}]\n`}${text}\n`).join('');
}

/** The path relative to the current folder, unless that is longer. */
function pickShorterPath(path: string, cwd: string): string {
  const relativePath = relative(cwd, path);
  return relativePath.length < path.length ? relativePath : path;
}
