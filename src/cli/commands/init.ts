import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { codeOf, EXIT } from '../../errors.ts';
import type { Carry } from '../entry.ts';
import { FIRST_WORKFLOW } from '../first-workflow/files.ts';
import { usage } from '../usage.ts';

/** `raymond init [DIR]`: a first workflow to read, to try and to change. Nothing that is there is touched. */
export const init: Carry = async ([given = 'workflows/first'], _words, { cwd, out }) => {
  const dir = given.replace(/(?<=.)\/+$/, '');
  const folder = resolve(cwd, dir);
  try {
    mkdirSync(folder, { recursive: true });
    const [other, ...more] = readdirSync(folder).filter((name) => !name.startsWith('.'));
    if (other !== undefined) {
      throw usage(`${dir} is not empty: ${other}${more.length > 0 ? ` and ${more.length} more` : ''}`, ELSEWHERE);
    }
    for (const [name, text] of Object.entries(FIRST_WORKFLOW)) {
      writeFileSync(join(folder, name), text, { flag: 'wx', mode: name.endsWith('.sh') ? 0o777 : 0o666 });
    }
  } catch (error) {
    if (codeOf(error) === '') throw error;
    throw usage(`${dir} cannot be written: ${reasonOf(error)}`, 'Mend that, or name another folder: raymond init DIR');
  }
  out(`Wrote ${dir}: ${Object.keys(FIRST_WORKFLOW).join(', ')}\n\n${nextSteps(dir)}`);
  return EXIT.completed;
};

const ELSEWHERE = 'Every file in its folder is part of a workflow. Nothing was written; name another: raymond init DIR';

function nextSteps(dir: string): string {
  // A bare name might be that of a command.
  const path = /^\.|\//.test(dir) ? dir : `./${dir}`;
  return `Read it:   start with ${dir}/START.md; the comments say what is what
Try it:    raymond ${quoted(path)} --agent ${quoted(`replay:${path}/answers.yaml`)}
Run it:    raymond ${quoted(path)} --budget 1      (with Claude Code; \`raymond doctor\` says if that is ready)
`;
}

/** A word as a shell takes it for one. */
const quoted = (word: string): string => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

const REASONS: Readonly<Record<string, string>> = {
  EEXIST: 'there is a file in the way',
  ENOTDIR: 'there is a file where a folder should be',
  EACCES: 'permission was denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the disk',
};

const reasonOf = (error: unknown): string => REASONS[codeOf(error)] ?? String(error);
