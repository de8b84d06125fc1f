import { join } from 'node:path';
import { EXIT } from '../../errors.ts';
import { wrapped } from '../../observers/fit.ts';
import { runWorkflow } from '../../raymond/start.ts';
import { attend } from '../attend.ts';
import { calledFrom } from '../called.ts';
import { type DemoFolder, filesMade, makeDemoFolder } from '../demo/folder.ts';
import type { Carry } from '../entry.ts';
import { quoted } from '../quoted.ts';
import type { Terminal } from '../terminal.ts';

const TASK = 'a command that turns numbers into Roman numerals';

/** `raymond demo [DIR]`: a whole workflow with canned answers, in a folder of its own, run like any other. */
export const demo: Carry = async ([given], words, terminal) => {
  const folder = makeDemoFolder(given, terminal.cwd);
  const { name, path } = folder;
  terminal.err(introduction(name, terminal.screen?.size().columns ?? Number.POSITIVE_INFINITY));
  const workflow = join(path, 'workflow');
  const request = {
    cwd: path,
    env: words.fast ? { ...terminal.env, RAYMOND_REPLAY: 'fast' } : terminal.env,
    options: { agent: `replay:${join(workflow, 'answers.yaml')}` },
    input: TASK,
    name: 'demo',
  };
  const code = await attend((place) => runWorkflow(workflow, { ...request, ...place }), words, terminal);
  if (code === EXIT.completed) terminal.err(farewell(folder, terminal));
  return code;
};

function introduction(name: string, columns: number): string {
  const sentences = [
    `The task: ${TASK}.`,
    'Claude Code is played by canned answers, so nothing is paid.',
    'The rest is real: the files, the tests, the loop, the workers.',
    `See ${name}/.`,
  ];
  const lines = sentences.flatMap((sentence) => wrapped(sentence, columns - 1));
  return `${lines.join('\n')}\n\n`;
}

function farewell(folder: DemoFolder, terminal: Terminal): string {
  const { name, path } = folder;
  const dir = quoted(name);
  const made = filesMade(folder).map((file) => [file.name, `${String(file.lines).padStart(3)} lines`] as const);
  const next = [
    [`node ${dir}/roman.mjs 2026`, 'what was made works'],
    [`cat ${dir}/workflow/DECIDE.md`, 'a prompt: a state is a short text'],
    [`(cd ${dir} && ${calledFrom(path, terminal)} logs last)`, 'the whole story, turn by turn'],
    [`${calledFrom(terminal.cwd, terminal)} init`, 'begin with a workflow of your own'],
  ] as const;
  return `\nWhat it made, in ${name}/:\n${table(made)}\nWhat to do next:\n${table(next)}`;
}

/** Two columns. */
function table(rows: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...rows.map(([first]) => first.length));
  return rows.map(([first, second]) => `  ${first.padEnd(width)}  ${second}\n`).join('');
}
