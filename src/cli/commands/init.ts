import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf, EXIT } from '../../errors.ts';
import { calledFrom } from '../called.ts';
import type { Carry } from '../entry.ts';
import { FIRST_WORKFLOW } from '../first-workflow/files.ts';
import { schemasFor } from '../first-workflow/schemas.ts';
import { contentOf, makeFolder, reasonOf } from '../new-folder.ts';
import { quoted } from '../quoted.ts';
import { usage } from '../usage.ts';

type Files = Readonly<Record<string, string>>;

/** `raymond init [DIR]`: a first workflow to read, to try and to change. Nothing that is there is touched but schemas of ours. */
export const init: Carry = async ([given], words, terminal) => {
  const dir = (given ?? (words.schemas ? '.' : 'workflows/first')).replace(/(?<=.)\/+$/, '');
  const folder = resolve(terminal.cwd, dir);
  const files = words.schemas ? schemasFor(folder) : FIRST_WORKFLOW;
  try {
    if (words.schemas) writeAnew(folder, dir, files);
    else writeNew(folder, dir, files);
  } catch (error) {
    if (codeOf(error) === '') throw error;
    throw usage(`${dir} cannot be written: ${reasonOf(error)}`, 'Name another folder: raymond init DIR');
  }
  terminal.out(`Wrote ${dir}: ${Object.keys(files).join(', ')}\n`);
  if (!words.schemas) terminal.out(`\n${nextSteps(dir, calledFrom(terminal.cwd, terminal))}`);
  return EXIT.completed;
};

function writeNew(folder: string, dir: string, files: Files): void {
  const content = contentOf(folder, (name) => !name.startsWith('.'));
  if (content !== null) throw usage(`${dir} is not empty: ${content}`, ELSEWHERE);
  makeFolder(folder);
  write(folder, files, 'wx');
}

function writeAnew(folder: string, dir: string, files: Files): void {
  if (!existsSync(folder)) throw usage(`there is no folder ${dir}`, 'Name the folder of a workflow.');
  write(folder, files, 'w');
}

function write(folder: string, files: Files, flag: 'w' | 'wx'): void {
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text, { flag, mode: name.endsWith('.sh') ? 0o777 : 0o666 });
  }
}

const ELSEWHERE = 'Every file in its folder is part of a workflow. Nothing was written; name another: raymond init DIR';

function nextSteps(dir: string, raymond: string): string {
  // A bare name might be that of a command.
  const path = /^\.|\//.test(dir) ? dir : `./${dir}`;
  return `Read it:   start with ${dir}/START.md; the comments say what is what
Try it:    ${raymond} ${quoted(path)} --agent ${quoted(`replay:${path}/answers.yaml`)}
Check it:  ${raymond} lint ${quoted(path)}      (what is wrong or odd in its files)
Test it:   ${raymond} test ${quoted(path)}      (whether it goes as ${dir}/tour.test.yaml expects)
Run it:    ${raymond} ${quoted(path)} --budget 1      (with Claude Code; \`${raymond} doctor\` says if that is ready)
`;
}
