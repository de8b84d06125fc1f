import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openFiles } from '../../app/open-files.ts';
import { runWorkflow } from '../../app/start.ts';
import { rememberProject } from '../../app/trust/known-projects.ts';
import { EXIT, errorCodeOf } from '../../errors.ts';
import { resolvePackageFile } from '../../package-files.ts';
import { quoteShellArgument } from '../../render/format.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import { wrapText } from '../../render/text-width.ts';
import { type CommandHandler, usageError } from '../command.ts';
import {
  createFolderWithParents,
  describeFolderContent,
  describeWriteError,
  findRaymondCommand,
} from '../new-folder.ts';
import { runAndReport } from '../run-and-report.ts';

const TASK = 'a command that turns numbers into Roman numerals';

/** `raymond demo [DIR]`: runs an example workflow with canned answers in a folder of its own. */
export const handleDemo: CommandHandler = async ([requestedName], options, terminal) => {
  const folder = makeDemoFolder(requestedName, terminal.cwd);
  const { name, path } = folder;
  terminal.err(renderIntroduction(name, terminal.screen?.size().columns ?? Number.POSITIVE_INFINITY));
  const workflow = join(path, 'workflow');
  await rememberProject(path, terminal.env);
  const request = {
    cwd: path,
    env: options.fast ? { ...terminal.env, RAYMOND_REPLAY: 'fast' } : terminal.env,
    options: { agent: `replay:${join(workflow, 'answers.yaml')}` },
    input: TASK,
    name: 'demo',
  };
  const code = await runAndReport(
    (observers) => runWorkflow(workflow, { ...request, ...observers }),
    options,
    terminal,
    openFiles(path, terminal.env),
  );
  if (code === EXIT.completed) terminal.err(renderDemoEnd(folder, terminal));
  return code;
};

function renderIntroduction(name: string, columns: number): string {
  const sentences = [
    `The task: ${TASK}.`,
    'Canned answers stand in for Claude Code, so nothing is paid.',
    'The rest is real: the files, the tests, the loop, the workers.',
    `See ${name}/.`,
  ];
  const lines = sentences.flatMap((sentence) => wrapText(sentence, columns - 1));
  return `${lines.join('\n')}\n\n`;
}

function renderDemoEnd(folder: DemoFolder, terminal: Terminal): string {
  const { name, path } = folder;
  const dir = quoteShellArgument(name);
  const made = listMadeFiles(folder).map((file) => [file.name, `${String(file.lines).padStart(3)} lines`] as const);
  const next = [
    [`node ${dir}/roman.mjs 2026`, 'what was made works'],
    [
      process.platform === 'win32' ? `type ${dir}\\workflow\\DECIDE.md` : `cat ${dir}/workflow/DECIDE.md`,
      'a prompt: a state is a short text',
    ],
    [`(cd ${dir} && ${findRaymondCommand(path, terminal)} logs last)`, 'the whole log, turn by turn'],
    [`${findRaymondCommand(terminal.cwd, terminal)} init`, 'start a workflow of your own'],
  ] as const;
  return `\nWhat it made, in ${name}/:\n${renderTwoColumns(made)}\nWhat to do next:\n${renderTwoColumns(next)}`;
}

function renderTwoColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}\n`).join('');
}

/** The folder of a demo: its name as the user sees it, and its absolute path. */
export interface DemoFolder {
  readonly name: string;
  readonly path: string;
}

const DEFAULT_NAME = 'raymond-demo';
const OTHER_FOLDER_HINT = 'Name another folder: raymond demo DIR';

/** Creates the folder of a demo with the workflow in it. A folder that is not empty is refused. */
export function makeDemoFolder(requestedName: string | undefined, cwd: string): DemoFolder {
  const name = requestedName?.replace(/(?<=.)\/+$/, '') ?? findFreeName(cwd);
  const path = resolve(cwd, name);
  try {
    const content = describeFolderContent(path, () => true);
    if (content !== null) throw usageError(`${name} is not empty: ${content}`, OTHER_FOLDER_HINT);
    // With a `.raymond` of its own the demo leaves no trace outside its folder.
    createFolderWithParents(join(path, '.raymond'), 0o700);
    cpSync(resolvePackageFile('examples/demo'), join(path, 'workflow'), { recursive: true });
  } catch (error) {
    if (errorCodeOf(error) === '') throw error;
    throw usageError(`${name} cannot be written: ${describeWriteError(error)}`, OTHER_FOLDER_HINT);
  }
  return { name, path };
}

/** Lists the files that the demo has made, with their lengths in lines. */
export function listMadeFiles({ path }: DemoFolder): readonly { readonly name: string; readonly lines: number }[] {
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ name, lines: readFileSync(join(path, name), 'utf8').split('\n').length - 1 }));
}

/** `raymond-demo`, or `raymond-demo-2` and so on if there was a demo before. */
function findFreeName(cwd: string): string {
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? DEFAULT_NAME : `${DEFAULT_NAME}-${number}`;
    if (!isTaken(resolve(cwd, name))) return name;
  }
}

/** A folder that cannot be read counts as taken. */
function isTaken(path: string): boolean {
  try {
    return describeFolderContent(path, () => true) !== null;
  } catch {
    return true;
  }
}
