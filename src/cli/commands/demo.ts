import { join } from 'node:path';
import { EXIT } from '../../errors.ts';
import { wrapText } from '../../terminal/text-width.ts';
import { runWorkflow } from '../../runtime/start.ts';
import { runAndReport } from '../run-and-report.ts';
import { findRaymondCommand } from '../shell-command.ts';
import { type DemoFolder, listMadeFiles, makeDemoFolder } from '../demo-folder.ts';
import type { CommandHandler } from '../command.ts';
import { quoteShellArgument } from '../shell-quote.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const TASK = 'a command that turns numbers into Roman numerals';

/** `raymond demo [DIR]`: a whole workflow with canned answers, in a folder of its own, run like any other. */
export const handleDemo: CommandHandler = async ([requestedName], options, terminal) => {
  const folder = makeDemoFolder(requestedName, terminal.cwd);
  const { name, path } = folder;
  terminal.err(renderIntroduction(name, terminal.screen?.size().columns ?? Number.POSITIVE_INFINITY));
  const workflow = join(path, 'workflow');
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
  );
  if (code === EXIT.completed) terminal.err(renderDemoEnd(folder, terminal));
  return code;
};

function renderIntroduction(name: string, columns: number): string {
  const sentences = [
    `The task: ${TASK}.`,
    'Claude Code is played by canned answers, so nothing is paid.',
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
    [`cat ${dir}/workflow/DECIDE.md`, 'a prompt: a state is a short text'],
    [`(cd ${dir} && ${findRaymondCommand(path, terminal)} logs last)`, 'the whole story, turn by turn'],
    [`${findRaymondCommand(terminal.cwd, terminal)} init`, 'begin with a workflow of your own'],
  ] as const;
  return `\nWhat it made, in ${name}/:\n${renderTwoColumns(made)}\nWhat to do next:\n${renderTwoColumns(next)}`;
}

/** Two columns. */
function renderTwoColumns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}\n`).join('');
}
