import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { runWorkflow } from '../../raymond/start.ts';
import { attend } from '../attend.ts';
import type { Carry } from '../entry.ts';
import { optionsOf, withConfig } from '../options.ts';
import { refuse, usage } from '../usage.ts';
import { textOf } from '../words.ts';
import { initConfig } from './init-config.ts';
import { resume } from './resume.ts';

/** `raymond run WORKFLOW`, and what stands without a command: `--resume RUN`, `--init-config`. */
export const run: Carry = async (args, words, terminal) => {
  const [path] = args;
  if (words.initConfig) return initConfig(terminal);
  const other = textOf(words, 'resume');
  if (other !== undefined) {
    if (path !== undefined) throw usage(`--resume ${other} or ${path}: choose one`);
    return resume([other], words, terminal);
  }
  refuse(words, ['retry', 'takeOver'], 'run');
  if (path === undefined) throw usage('there is no workflow to run');
  const cwd = folderOf(textOf(words, 'dir'), terminal.cwd);
  const input = textOf(words, 'input');
  const runId = textOf(words, 'runId');
  const name = textOf(words, 'name');
  const request = {
    cwd,
    env: terminal.env,
    options: withConfig(optionsOf(words, terminal.cwd), cwd),
    ...(input !== undefined && { input }),
    ...(runId !== undefined && { runId }),
    ...(name !== undefined && { name }),
  };
  return attend((place) => runWorkflow(resolve(terminal.cwd, path), { ...request, ...place }), words, terminal);
};

/** The folder that the agents are to work in: one that was named must be there, or it was a slip. */
function folderOf(dir: string | undefined, cwd: string): string {
  if (dir === undefined) return cwd;
  const path = resolve(cwd, dir);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw usage(`--dir ${dir} is not a folder`, 'Make it first, or name another.');
}
