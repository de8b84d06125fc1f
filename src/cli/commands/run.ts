import { readFileSync, statSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { writeConfig } from '../../app/config/load-config.ts';
import { EXIT, errorCodeOf, RaymondError } from '../../errors.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import type { RunHandle } from '../../wiring/run-handle.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, WAIT_AT_MOST_MS, withStorage } from '../open-storage.ts';
import { getRepeatedOption, getTextOption, refuseOptions } from '../parsed-options.ts';
import { describeCrashedRuns } from '../reports/run-table.ts';
import {
  addViewOptions,
  leaveRun,
  parseViewFlags,
  type RunObservers,
  refuseNodeOptions,
  runAndReport,
} from '../run-and-report.ts';
import { parseRunOptions } from '../run-options.ts';
import { addTrustedConfig } from '../trust-questions.ts';
import { resolveWorkflowArgument } from '../workflow-argument.ts';

/** `raymond run WORKFLOW`, also without `run`; with `--resume RUN` or `--init-config` it does that instead. */
export const handleRun: CommandHandler = async (args, options, terminal) => {
  const [path] = args;
  try {
    return await runOrResume(path, options, terminal);
  } catch (error) {
    throw path === undefined ? error : await suggestWorkflowsBelow(error, path, terminal.cwd);
  }
};

async function runOrResume(path: string | undefined, options: ParsedOptions, terminal: Terminal): Promise<number> {
  if (options.initConfig) return initConfig(terminal);
  const runToResume = getTextOption(options, 'resume');
  if (runToResume !== undefined) {
    if (path !== undefined) throw usageError(`give --resume ${runToResume} or the workflow ${path}, not both`);
    const { input: answer, ...others } = options;
    if (typeof answer === 'string') {
      const text = await readInputText(answer, terminal);
      return (await import('./answer.ts')).handleAnswer([runToResume, text], { ...others, resume: true }, terminal);
    }
    return (await import('./resume.ts')).handleResume([runToResume], options, terminal);
  }
  refuseOptions(options, ['retry', 'takeOver', 'refuseChangedCode'], 'run without --resume');
  if (path === undefined) throw usageError('there is no workflow to run');
  const workflow = await resolveWorkflowArgument(path, terminal);
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
  return withStorage(
    address,
    terminal,
    async ({ openFolder }) => {
      const place = openFolder(cwd);
      const { launcher } = place;
      refuseNodeOptions(options, launcher);
      const start = (observers: Partial<RunObservers>): Promise<RunHandle> =>
        launcher.start(workflow, { ...request, ...observers, labels });
      if (options.detach === true) return leaveRun(start, terminal);
      const notice = describeCrashedRuns(await launcher.findCrashed().catch(() => []));
      return runAndReport(start, addViewOptions(options, settings.view), terminal, place, notice);
    },
    WAIT_AT_MOST_MS,
  );
}

const MAX_SUGGESTIONS = 5;

const NEARBY = { maxFolders: 500 };

/** Adds to the error about a folder without states which workflows are below it, or have its name elsewhere in the project. */
async function suggestWorkflowsBelow(error: unknown, path: string, cwd: string): Promise<unknown> {
  if (!(error instanceof RaymondError) || error.exitCode !== EXIT.invalid || error.hint !== undefined) return error;
  const folder = resolve(cwd, path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return error;
  const { findFolders } = await import('../../wiring/find-workflows.ts');
  const { workflows } = await findFolders(folder);
  if (workflows.includes(folder)) return error;
  if (workflows.length === 0) {
    const nearby = (await findFolders(cwd, NEARBY)).workflows.filter((each) => basename(each) === basename(folder));
    if (nearby.length === 0) return error;
    const paths = nearby.slice(0, MAX_SUGGESTIONS).map((each) => relative(cwd, each));
    return new RaymondError(error.message, { exitCode: EXIT.invalid, hint: `Did you mean ${paths.join(' or ')}?` });
  }
  const shown = workflows.slice(0, MAX_SUGGESTIONS).map((each) => join(path, relative(folder, each)));
  const more = workflows.length > MAX_SUGGESTIONS ? ` and ${workflows.length - MAX_SUGGESTIONS} more` : '';
  return new RaymondError(error.message, {
    exitCode: EXIT.invalid,
    hint: `Workflows in this folder: ${shown.join(', ')}${more}.`,
  });
}

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

/**
 * Reads the value of `--input`: a text, `@FILE` for the text of a file, `-` for that of stdin. `@@` is an @ at the
 * beginning of a text. What is read loses the line breaks at its end, as in `$(cat FILE)`.
 */
export async function readInputText(written: string, { cwd, readStdin }: Terminal): Promise<string> {
  if (written === '-') return decodeInput((await readStdin?.()) ?? new Uint8Array(), 'stdin');
  if (written.startsWith('@@')) return written.slice(1);
  if (!written.startsWith('@')) return written;
  const file = written.slice(1);
  return decodeInput(readInputFile(file, cwd), file);
}

function readInputFile(file: string, cwd: string): Uint8Array {
  try {
    return readFileSync(resolve(cwd, file));
  } catch (error) {
    throw usageError(
      `--input @${file}: the file cannot be read (${errorCodeOf(error)})`,
      'Name a file that exists. For a text that begins with @, write @@.',
    );
  }
}

function decodeInput(bytes: Uint8Array, source: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text.replace(/[\r\n]+$/, '');
  } catch {}
  throw usageError(`--input: ${source} is not text in UTF-8`, 'Convert it, or let the workflow read the file itself.');
}
