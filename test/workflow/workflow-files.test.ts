import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { InvalidWorkflow } from '../../src/workflow/invalid-workflow.ts';
import { openWorkflowFolder } from '../../src/workflow/workflow-files.ts';
import { temporaryFolders } from './temp.ts';

const folder = temporaryFolders();

test('only the files directly in it count, sorted, without dot files', async () => {
  const path = folder({ 'b.md': '', 'a.sh': '', 'B.md': '', '.hidden.md': '', 'sub/c.md': '', 'notes.txt': '' });
  expect(await openWorkflowFolder(path).list()).toStrictEqual(['B.md', 'a.sh', 'b.md', 'notes.txt']);
});

test('a link counts as its target', async () => {
  const path = folder({ 'A.md': 'a' });
  mkdirSync(join(path, 'sub'));
  symlinkSync(join(path, 'A.md'), join(path, 'B.md'));
  symlinkSync(join(path, 'sub'), join(path, 'C.md'));
  symlinkSync(join(path, 'nowhere'), join(path, 'D.md'));
  const source = openWorkflowFolder(path);
  expect(await source.list()).toStrictEqual(['A.md', 'B.md']);
  expect(Buffer.from((await source.read('B.md')).bytes).toString()).toBe('a');
});

test('the current files are listed and read', async () => {
  const path = folder({ 'A.md': 'a' });
  const source = openWorkflowFolder(path);
  expect(await source.list()).toStrictEqual(['A.md']);
  writeFileSync(join(path, 'A.md'), 'b');
  writeFileSync(join(path, 'B.md'), '');
  expect(await source.list()).toStrictEqual(['A.md', 'B.md']);
  expect(Buffer.from((await source.read('A.md')).bytes).toString()).toBe('b');
});

test('a missing file or folder is an error with a message', async () => {
  const path = folder();
  const source = openWorkflowFolder(path);
  const gone = (what: string) =>
    new InvalidWorkflow(what, [
      { level: 'error', file: what, line: 0, column: 0, message: 'it cannot be read: it does not exist' },
    ]);
  await expect(source.read('A.md')).rejects.toStrictEqual(gone('A.md'));
  rmSync(path, { recursive: true });
  await expect(source.list()).rejects.toStrictEqual(gone(basename(path)));
});
