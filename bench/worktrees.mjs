// What the worktree of a worker costs besides `git worktree add` itself, in a repository with some files.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { figure, inTurns, median } from './harness.mjs';

const FILES = 200;
const ROUNDS = 15;

/** The time until a worktree is reported, compared with the bare command; both take turns in one repository. */
export async function measureWorktrees({ load, workshop, quick }) {
  const { makeWorktree } = await load('git/worktree.js');
  const cwd = workshop();
  const git = (...args) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd });
  mkdirSync(join(cwd, 'files'));
  for (let count = 0; count < FILES; count += 1) writeFileSync(join(cwd, 'files', `${count}.txt`), `${count}\n`);
  git('init', '-q');
  git('add', '.');
  git('commit', '-qm', 'files');
  let count = 0;
  const timed = (make) => async () => {
    count += 1;
    const start = performance.now();
    await make(`${cwd}-trees/${count}`, `tree-${count}`);
    return performance.now() - start;
  };
  const { bare, ours } = await inTurns(quick ? 5 : ROUNDS, {
    bare: timed((path, branch) => git('worktree', 'add', '--quiet', '-b', branch, path)),
    ours: timed(async (path, branch) => {
      const made = await makeWorktree({ path, branch, cwd }, { env: process.env });
      if ('message' in made) throw new Error(made.message);
    }),
  });
  return [
    figure(`\`git worktree add\` with ${FILES} files`, median(bare), 'ms'),
    figure('the worktree of a worker, in addition to that', median(ours) - median(bare), 'ms', 20),
  ];
}
