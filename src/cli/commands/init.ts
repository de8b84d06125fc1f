import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf, EXIT } from '../../errors.ts';
import { calledFrom } from '../called.ts';
import type { Carry } from '../entry.ts';
import { FIRST_WORKFLOW } from '../first-workflow/files.ts';
import { contentOf, makeFolder, reasonOf } from '../new-folder.ts';
import { quoted } from '../quoted.ts';
import { usage } from '../usage.ts';

/** `raymond init [DIR]`: a first workflow to read, to try and to change. Nothing that is there is touched. */
export const init: Carry = async ([given = 'workflows/first'], _words, terminal) => {
  const dir = given.replace(/(?<=.)\/+$/, '');
  const folder = resolve(terminal.cwd, dir);
  try {
    const content = contentOf(folder, (name) => !name.startsWith('.'));
    if (content !== null) throw usage(`${dir} is not empty: ${content}`, ELSEWHERE);
    makeFolder(folder);
    for (const [name, text] of Object.entries(FIRST_WORKFLOW)) {
      writeFileSync(join(folder, name), text, { flag: 'wx', mode: name.endsWith('.sh') ? 0o777 : 0o666 });
    }
  } catch (error) {
    if (codeOf(error) === '') throw error;
    throw usage(`${dir} cannot be written: ${reasonOf(error)}`, 'Name another folder: raymond init DIR');
  }
  terminal.out(`Wrote ${dir}: ${Object.keys(FIRST_WORKFLOW).join(', ')}\n\n`);
  terminal.out(nextSteps(dir, calledFrom(terminal.cwd, terminal)));
  return EXIT.completed;
};

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
