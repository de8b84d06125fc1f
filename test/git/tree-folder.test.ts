import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { removeRemains } from '../../src/app/worktrees/worktree-folders.ts';
import { createGit } from '../../src/git/git.ts';
import { removeClone } from '../../src/git/workspace.ts';
import { removeWorktree } from '../../src/git/worktree.ts';
import { git } from '../git.ts';

/** A folder of worktrees, and one of somebody else that has the same names in it. */
function newFolders() {
  const root = mkdtempSync(join(tmpdir(), 'raymond-trees-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const precious = join(root, 'precious');
  for (const name of ['r1/main_w1', 'r1/main_w1.removed', 'r1/x.partial']) {
    mkdirSync(join(precious, name), { recursive: true });
    writeFileSync(join(precious, name, 'file'), '');
  }
  const isWhole = (): boolean =>
    ['main_w1', 'main_w1.removed', 'x.partial'].every((name) => existsSync(join(precious, 'r1', name, 'file')));
  return { root, precious, isWhole };
}

const repositoryIn = (root: string) => {
  git(root, 'init', '-q', 'repository');
  return createGit(join(root, 'repository'), { env: process.env });
};

describe.each(['the folder of the project', 'the folder of the run'])('a link in place of %s', (place) => {
  const link = (): ReturnType<typeof newFolders> & { readonly run: string } => {
    const folders = newFolders();
    const { root, precious } = folders;
    const project = join(root, 'project');
    if (place === 'the folder of the project') symlinkSync(precious, project);
    else {
      mkdirSync(project);
      symlinkSync(join(precious, 'r1'), join(project, 'r1'));
    }
    return { ...folders, run: join(project, 'r1') };
  };

  test('keeps a clone from being removed', async () => {
    const { run, isWhole } = link();
    expect(await removeClone(join(run, 'main_w1'))).toContain('is a link: nothing is removed through it.');
    expect(isWhole()).toBe(true);
  });

  test('keeps a worktree from being removed', async () => {
    const { root, run, isWhole } = link();
    expect(await removeWorktree(repositoryIn(root), join(run, 'main_w1'))).toContain('is a link');
    expect(isWhole()).toBe(true);
  });

  test('keeps what looks like remains', async () => {
    const { run, isWhole } = link();
    await removeRemains([{ run: 'r1', folder: run }]);
    expect(isWhole()).toBe(true);
  });
});

test('without links, worktrees, clones and remains go', async () => {
  const { root, precious } = newFolders();
  const run = join(precious, 'r1');
  expect(await removeWorktree(repositoryIn(root), join(run, 'main_w1'))).toBeNull();
  mkdirSync(join(run, 'main'));
  expect(await removeClone(join(run, 'main'))).toBeNull();
  await removeRemains([{ run: 'r1', folder: run }]);
  expect(existsSync(run)).toBe(false);
});
