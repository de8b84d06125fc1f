import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { EXIT } from '../../errors.ts';
import { rememberProject } from '../../runtime/known-projects.ts';
import { findCrashedRuns } from '../../runtime/list-runs.ts';
import type { RunHandle } from '../../runtime/run-handle.ts';
import { runWorkflow } from '../../runtime/start.ts';
import { writeConfig } from '../../runtime/write-config.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { findDatabaseAddress, WAIT_AT_MOST_MS, withRunPlace } from '../database-option.ts';
import { readInputText } from '../input-text.ts';
import { getRepeatedOption, getTextOption, refuseOptions } from '../parsed-options.ts';
import { describeCrashedRuns } from '../reports/crashed-runs.ts';
import { leaveRun, type RunObservers, refuseDetaching, runAndReport } from '../run-and-report.ts';
import { parseRunOptions } from '../run-options.ts';
import { addTrustedConfig } from '../trust-questions.ts';
import { addViewOptions, parseViewFlags } from '../view-settings.ts';

/** `raymond run WORKFLOW`, also without `run`; with `--resume RUN` or `--init-config` it does that instead. */
export const handleRun: CommandHandler = async (args, options, terminal) => {
  const [path] = args;
  if (options.initConfig) return initConfig(terminal);
  const runToResume = getTextOption(options, 'resume');
  if (runToResume !== undefined) {
    if (path !== undefined) throw usageError(`give --resume ${runToResume} or the workflow ${path}, not both`);
    return (await import('./resume.ts')).handleResume([runToResume], options, terminal);
  }
  refuseOptions(options, ['retry', 'takeOver'], 'run without --resume');
  if (path === undefined) throw usageError('there is no workflow to run');
  const dir = getTextOption(options, 'dir');
  const cwd = resolveWorkFolder(dir, terminal.cwd);
  const writtenInput = getTextOption(options, 'input');
  const runId = getTextOption(options, 'runId');
  const name = getTextOption(options, 'name');
  // The config is that of where one stands, also with --dir, so that `raymond config` shows what a run gets.
  const flags = { ...parseRunOptions(options, terminal.cwd), ...parseViewFlags(options) };
  const settings = await addTrustedConfig(flags, terminal);
  const request = {
    cwd,
    env: terminal.env,
    options: settings.options,
    ...(writtenInput !== undefined && { input: await readInputText(writtenInput, terminal) }),
    ...(runId !== undefined && { runId }),
    ...(name !== undefined && { name }),
    ignoreWorkingDirectory: dir !== undefined,
  };
  const address = findDatabaseAddress(options, terminal, settings.view.database ?? null);
  const labels = getRepeatedOption(options, 'label');
  if (address !== null) {
    return withRunPlace(
      address,
      terminal,
      ({ location, database }) => {
        const start = async (observers: Partial<RunObservers>): Promise<RunHandle> => {
          if (database === null) throw new Error('there is no database');
          return database.start(resolve(terminal.cwd, path), { ...request, ...observers, labels });
        };
        if (options.detach === true) return leaveRun(start, terminal);
        return runAndReport(start, addViewOptions(options, settings.view), terminal, null, location);
      },
      WAIT_AT_MOST_MS,
    );
  }
  if (labels.length > 0) throw usageError('--label chooses a worker: it needs a --database');
  refuseDetaching(options);
  await rememberProject(cwd, terminal.env);
  return runAndReport(
    (observers) => runWorkflow(resolve(terminal.cwd, path), { ...request, ...observers }),
    addViewOptions(options, settings.view),
    terminal,
    describeCrashedRuns(await findCrashedRuns(cwd).catch(() => [])),
  );
};

/** The folder that the agents work in. It is not created: a name that leads nowhere is probably a slip. */
function resolveWorkFolder(dir: string | undefined, cwd: string): string {
  if (dir === undefined) return cwd;
  const path = resolve(cwd, dir);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw usageError(`--dir ${dir} is not a folder`, 'Create it first, or name another.');
}

/** `raymond --init-config`: writes a config file to be edited. */
async function initConfig({ cwd, out }: Terminal): Promise<number> {
  out(`Wrote ${await writeConfig(cwd)}\n`);
  out('It explains every option and sets none: remove the # before those you want.\n');
  out('`raymond config` shows the values in effect.\n');
  return EXIT.completed;
}
