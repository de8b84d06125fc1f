import { formatJson } from '../../core/json.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { formatCount } from '../../events/format.ts';
import { listRuns, type RunListEntry, toRunListDocument } from '../../runtime/list-runs.ts';
import { resumeRun } from '../../runtime/resume.ts';
import { createRenderContext } from '../../terminal/render-context.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import type { CommandHandler, ParsedOptions } from '../command.ts';
import { renderRunTable } from '../reports/run-table.ts';
import { runAndReport } from '../run-and-report.ts';
import { confirmTrustOfRun } from '../trust-questions.ts';

/** `raymond recover`: lists the runs whose process has died; with --resume it resumes them, one after the other. */
export const handleRecover: CommandHandler = async (_, options, terminal) => {
  const runs = (await listRuns(terminal.cwd)).filter((run) => run.kind === 'run' && run.observedStatus === 'crashed');
  if (options.resume === true && runs.length > 0) return resumeAll(runs, options, terminal);
  if (options.json && !options.resume) terminal.out(`${formatJson(toRunListDocument(runs))}\n`);
  else if (runs.length === 0) terminal.err('Nothing to recover: no run has lost its process.\n');
  else {
    terminal.out(`${renderRunTable(runs, createRenderContext(terminal)).join('\n')}\n`);
    terminal.err(
      `${runs.length === 1 ? 'Its process has' : 'Their processes have'} died. To go on: raymond recover --resume\n`,
    );
  }
  return EXIT.completed;
};

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

/** Resumes each run until it ends. An interrupt also keeps the others from starting. */
async function resumeAll(runs: readonly RunListEntry[], options: ParsedOptions, terminal: Terminal): Promise<number> {
  const codes: number[] = [];
  for (const [at, { id }] of runs.entries()) {
    terminal.err(`Resuming ${id}${runs.length === 1 ? '' : ` (${at + 1} of ${runs.length})`}\n`);
    const code = await resumeOne(id, options, terminal);
    codes.push(code);
    const remaining = runs.length - at - 1;
    if (code !== EXIT.interrupted) continue;
    if (remaining > 0)
      terminal.err(`${formatCount(remaining, 'run')} not resumed. To go on: raymond recover --resume\n`);
    break;
  }
  return EXIT_CODES_BY_SEVERITY.find((code) => codes.includes(code)) ?? EXIT.completed;
}

/** Resumes one run; if it cannot be resumed, the error is printed and the others still are. */
async function resumeOne(id: string, options: ParsedOptions, terminal: Terminal): Promise<number> {
  const { cwd, env } = terminal;
  try {
    await confirmTrustOfRun(id, {}, terminal);
    return await runAndReport((observers) => resumeRun(id, { cwd, env, ...observers }), options, terminal);
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    terminal.err(`${id}: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
    return error.exitCode;
  }
}
