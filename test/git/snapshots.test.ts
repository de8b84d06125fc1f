import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { diffSnapshots, pruneSnapshots, restoreSnapshot, takeSnapshot } from '../../src/git/snapshot-repository.ts';
import { git } from '../git.ts';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'raymond-snapshots-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const options = { env: { ...process.env, GIT_CEILING_DIRECTORIES: tmpdir() } };
let count = 0;
const newFolder = async (): Promise<string> => {
  count += 1;
  const folder = join(root, `f${count}`);
  await mkdir(folder);
  return folder;
};

/** The files below a folder with their content and modes, without those of git and of Raymond. */
function listFiles(folder: string, top = folder): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder)) {
    if (name === '.git' || name === '.raymond') continue;
    const path = join(folder, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) Object.assign(found, listFiles(path, top));
    else if (stats.isSymbolicLink()) found[relative(top, path)] = `-> ${readlinkSync(path)}`;
    else found[relative(top, path)] = `${(stats.mode & 0o100) === 0 ? '' : 'x '}${readFileSync(path, 'latin1')}`;
  }
  return found;
}

async function take(repository: string, folder: string): Promise<string> {
  const taken = await takeSnapshot(repository, folder, options);
  if ('problem' in taken) throw new Error(taken.problem);
  return taken.snapshot.tree;
}

async function restore(repository: string, tree: string): Promise<Record<string, string>> {
  const folder = await newFolder();
  expect(await restoreSnapshot(repository, tree, folder, options)).toBeNull();
  return listFiles(folder);
}

const write = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
};

async function newProject(files: Readonly<Record<string, string>>): Promise<string> {
  const project = await newFolder();
  git(project, 'init', '-q', '-b', 'main');
  await write(project, files);
  git(project, 'add', '-A');
  git(project, 'commit', '-q', '-m', 'first', '--allow-empty');
  return project;
}

const name = fc.constantFrom('a', 'b', 'c d', 'é', '-x', 'a\nb', '"q"', ':(top)', 'UP', 'up2');
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const change = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), path, text: fc.string({ unit: 'binary', maxLength: 20 }) }),
  fc.record({ kind: fc.constant('program' as const), path, text: fc.string({ maxLength: 5 }) }),
  fc.record({ kind: fc.constant('link' as const), path, text: path }),
  fc.record({ kind: fc.constant('remove' as const), path, text: fc.constant('') }),
);

async function apply(folder: string, { kind, path: file, text }: { kind: string; path: string; text: string }) {
  const target = join(folder, file);
  await rm(target, { recursive: true, force: true });
  if (kind === 'remove') return;
  // A file or a link in the place of a folder gives way.
  for (let above = dirname(target); above !== folder; above = dirname(above)) {
    const stats = lstatSync(above, { throwIfNoEntry: false });
    if (stats !== undefined && !stats.isDirectory()) await rm(above);
  }
  await mkdir(dirname(target), { recursive: true });
  if (kind === 'link') return symlink(text, target);
  await writeFile(target, text, 'latin1');
  if (kind === 'program') await chmod(target, 0o755);
}

test.each(['in a git project', 'elsewhere'])(
  'restores any snapshot exactly, %s',
  { timeout: 120_000 },
  async (where) => {
    const batches = fc.array(fc.array(change, { maxLength: 6 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(batches, async (steps) => {
        const folder = where === 'elsewhere' ? await newFolder() : await newProject({ a: 'one', 'b/a': 'two' });
        const repository = join(await newFolder(), 'snapshots');
        const taken: [string, Record<string, string>][] = [];
        for (const step of steps) {
          for (const each of step) await apply(folder, each).catch(() => {});
          taken.push([await take(repository, folder), listFiles(folder)]);
        }
        for (const [tree, files] of taken) expect(await restore(repository, tree)).toStrictEqual(files);
      }),
      { numRuns: 8 },
    );
  },
);

test('keeps files of repositories and submodules within the folder, and none that is ignored', async () => {
  const inner = await newProject({ 'lib.txt': 'lib' });
  const project = await newProject({ '.gitignore': 'dist/\n*.log\n', a: '1' });
  git(project, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', inner, 'sub');
  git(project, 'commit', '-q', '-m', 'sub');
  await write(project, { 'nested/x.txt': 'x', 'nested/y.log': 'no', 'dist/out': 'no', 'local.txt': 'no' });
  await writeFile(join(project, '.git/info/exclude'), 'local.txt\n');
  git(join(project, 'nested'), 'init', '-q');
  await writeFile(join(project, 'sub/lib.txt'), 'changed');
  const before = git(project, 'status', '--porcelain');
  const repository = join(await newFolder(), 'snapshots');
  const files = await restore(repository, await take(repository, project));
  expect(Object.keys(files).sort()).toStrictEqual(
    ['.gitignore', '.gitmodules', 'a', 'nested/x.txt', 'nested/y.log', 'sub/lib.txt'].sort(),
  );
  expect(files['sub/lib.txt']).toBe('changed');
  expect(git(project, 'status', '--porcelain')).toBe(before);
});

test('outlives a rewritten history and a clean-up of the project', async () => {
  const project = await newProject({ a: 'first version', 'b/c': 'kept' });
  const repository = join(await newFolder(), 'snapshots');
  const tree = await take(repository, project);
  await writeFile(join(project, 'a'), 'second version');
  git(project, 'commit', '-q', '-a', '--amend', '-m', 'rewritten');
  git(project, 'reflog', 'expire', '--expire=now', '--all');
  git(project, 'gc', '-q', '--prune=now');
  expect(await restore(repository, tree)).toStrictEqual({ a: 'first version', 'b/c': 'kept' });
});

test('keeps the bytes of files that the project converts, and starts no filter', async () => {
  const trace = join(await newFolder(), 'trace');
  const project = await newProject({
    '.gitattributes': '*.txt text eol=crlf\n*.bin filter=mine\n',
    'a.txt': 'x\r\ny\r\n',
  });
  git(project, 'config', 'filter.mine.clean', `sh -c 'echo ran > ${trace}; cat'`);
  await write(project, { 'b.bin': 'raw' });
  const repository = join(await newFolder(), 'snapshots');
  const files = await restore(repository, await take(repository, project));
  expect(files['a.txt']).toBe('x\r\ny\r\n');
  expect(files['b.bin']).toBe('raw');
  expect(lstatSync(trace, { throwIfNoEntry: false })).toBeUndefined();
});

test('notices changes that the project was told not to look for, and conflicts', async () => {
  const project = await newProject({ a: '1', b: '2', c: '3' });
  git(project, 'update-index', '--assume-unchanged', 'a');
  git(project, 'update-index', '--skip-worktree', 'b');
  await write(project, { a: 'other', b: 'other' });
  const repository = join(await newFolder(), 'snapshots');
  expect(await restore(repository, await take(repository, project))).toStrictEqual({ a: 'other', b: 'other', c: '3' });
  const divided = await newProject({ a: 'base' });
  git(divided, 'checkout', '-q', '-b', 'side');
  await write(divided, { a: 'side' });
  git(divided, 'commit', '-q', '-am', 'side');
  git(divided, 'checkout', '-q', 'main');
  await write(divided, { a: 'main' });
  git(divided, 'commit', '-q', '-am', 'main');
  expect(() => git(divided, 'merge', '-q', 'side')).toThrow();
  const conflict = listFiles(divided);
  expect(await restore(repository, await take(repository, divided))).toStrictEqual(conflict);
});

test('names files that are too large, and gives up where there are too many', async () => {
  const folder = await newFolder();
  await write(folder, { small: 'x' });
  await writeFile(join(folder, 'large'), '');
  await truncate(join(folder, 'large'), 51 << 20);
  const repository = join(await newFolder(), 'snapshots');
  const taken = await takeSnapshot(repository, folder, options);
  expect(taken).toMatchObject({ leftOut: ['large'], snapshot: { head: null } });
  const crowd = await newFolder();
  execFileSync('sh', ['-c', 'seq 20001 | xargs touch'], { cwd: crowd });
  expect(await takeSnapshot(repository, crowd, options)).toStrictEqual({
    problem: 'it has more than 20,000 files and is no git project',
    isFinal: true,
  });
});

test('shows what changed between two snapshots, and forgets those that nobody needs', async () => {
  const project = await newProject({ a: 'one\n', b: 'two\n' });
  const repository = join(await newFolder(), 'snapshots');
  const first = await take(repository, project);
  await write(project, { a: 'one\nmore\n', c: 'new\n' });
  const second = await take(repository, project);
  const diff = await diffSnapshots(repository, [first, second], ['--name-status'], options);
  expect(diff).toStrictEqual({ text: 'M\ta\nA\tc' });
  await pruneSnapshots(repository, [first], options, 'now');
  expect(await restore(repository, first)).toStrictEqual({ a: 'one\n', b: 'two\n' });
  expect(await restoreSnapshot(repository, second, await newFolder(), options)).toMatch(/cannot be read/);
});

test('several snapshots at once do not get in each other’s way', async () => {
  const project = await newProject({ a: '1' });
  await write(project, { b: '2' });
  const repository = join(await newFolder(), 'snapshots');
  await take(repository, project);
  await write(project, { c: '3' });
  const trees = await Promise.all(Array.from({ length: 4 }, () => take(repository, project)));
  expect(new Set(trees).size).toBe(1);
  // Nothing but the index is left of them.
  expect(await readdir(join(repository, 'folders'))).toHaveLength(1);
});
