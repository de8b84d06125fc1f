import { createHash, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, type Stats } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FolderSnapshot } from '../core/run/snapshot.ts';
import { errorCodeOf, errorMessageOf } from '../errors.ts';
import { findGitPlace, realPathOf } from '../git-repository.ts';
import { createGit, createLooseGit, type GitOptions, type RepositoryGit, withRepository } from './git.ts';
import { readIndexSize, seedIndex } from './snapshot-seed.ts';

/*
 * Snapshots of working folders are trees in a git repository of Raymond's own.
 *
 * 1. Nothing in a folder or in its project is changed: neither its index, nor its branches.
 * 2. Files are kept byte by byte: no filter and no conversion of line ends applies.
 * 3. Each folder has an index of its own. A snapshot works on a copy of it, which takes its place at the end, so that several
 *    processes may take snapshots of one folder, and one that is killed leaves nothing behind but that copy.
 * 4. Not kept are ignored files, empty folders, and files over `MAX_FILE_BYTES`.
 */

/** A larger file is left out. */
const MAX_FILE_BYTES = 50 << 20;
/** More files, in a project of git or elsewhere, or more bytes elsewhere would make each turn wait. */
const MAX_PROJECT_FILES = 200_000;
const MAX_PLAIN_FILES = 20_000;
const MAX_PLAIN_BYTES = 1 << 30;

/** A snapshot with the files that were left out of it; or why there is none, and whether there never will be one here. */
export type SnapshotOutcome =
  | { readonly snapshot: FolderSnapshot; readonly leftOut: readonly string[] }
  | { readonly problem: string; readonly isFinal: boolean };

/** The folder of which a snapshot is taken for an agent that works in `cwd`. */
export const snapshotFolderOf = (cwd: string): string => findGitPlace(cwd)?.top ?? realPathOf(cwd);

/** Takes a snapshot of a folder; it never throws. */
export async function takeSnapshot(repository: string, folder: string, options: GitOptions): Promise<SnapshotOutcome> {
  const project = findGitPlace(folder);
  const isProject = project?.top === folder;
  const place = { top: folder, gitDir: repository, commonDir: repository };
  const index = indexOf(repository, folder);
  const draft = `${index}.${randomUUID()}`;
  const variables = { GIT_INDEX_FILE: draft };
  try {
    const problem = await ensureRepository(repository, options);
    if (problem !== null) return { problem, isFinal: true };
    const head = isProject ? createGit(folder, options)('rev-parse', '--verify', '--quiet', 'HEAD^{commit}') : null;
    const isKnown = await copyIndex(index, draft);
    if (!isKnown && !isProject) {
      const excess = await findExcess(folder);
      if (excess !== null) return { problem: excess, isFinal: true };
    }
    return await withRepository(place, options, async (run): Promise<SnapshotOutcome> => {
      const git: RepositoryGit = (args, how) =>
        run([...SETTINGS, ...args], { ...how, variables: { ...variables, ...how?.variables } });
      if (!isKnown && isProject) await seedIndex(project, { repository, draft, git });
      const added = await addChanges(folder, isProject ? project.commonDir : null, draft, git);
      if ('problem' in added) return added;
      const tree = await git(['write-tree']);
      if (!tree.ok) return { problem: tree.error, isFinal: false };
      if (added.isChanged || !isKnown) await rename(draft, index);
      const commit = await head;
      return {
        snapshot: { tree: tree.out, folder, head: commit?.ok ? commit.out : null },
        leftOut: added.leftOut,
      };
    });
  } catch (error) {
    return { problem: errorMessageOf(error), isFinal: false };
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** The settings of every command here. What a crash of the machine loses is a snapshot, and no work of the user. */
const SETTINGS = [
  ...['-c', 'core.fsmonitor=false'],
  ...['-c', 'core.untrackedCache=false'],
  ...['-c', 'core.autocrlf=false'],
  ...['-c', 'core.fsync=none'],
  ...['-c', 'core.precomposeUnicode=false'],
  ...['-c', 'core.quotePath=false'],
];

/** Restores a snapshot into an empty folder; returns why that is not possible. */
export async function restoreSnapshot(
  repository: string,
  tree: string,
  folder: string,
  options: GitOptions,
): Promise<string | null> {
  if (!existsSync(join(repository, 'HEAD'))) return 'the repository with the snapshots is gone';
  const draft = join(repository, 'folders', `restore.${randomUUID()}`);
  const place = { top: folder, gitDir: repository, commonDir: repository };
  try {
    return await withRepository(place, options, async (run) => {
      const git = (...args: readonly string[]) => run([...SETTINGS, ...args], { variables: { GIT_INDEX_FILE: draft } });
      const read = await git('read-tree', tree);
      if (!read.ok) return `the snapshot ${tree.slice(0, 12)} cannot be read (${read.error})`;
      const written = await git('checkout-index', '--all', '--force', '--quiet');
      return written.ok ? null : written.error;
    });
  } catch (error) {
    return errorMessageOf(error);
  } finally {
    await rm(draft, { force: true }).catch(() => {});
  }
}

/** The difference between two snapshots, as git prints it; `--stat` and the like in `args`. */
export async function diffSnapshots(
  repository: string,
  trees: readonly [string, string],
  args: readonly string[],
  options: GitOptions,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  if (!existsSync(join(repository, 'HEAD'))) return { problem: 'the repository with the snapshots is gone' };
  const place = { top: repository, gitDir: repository, commonDir: repository };
  const plain = ['--no-color', '--no-ext-diff', '--no-textconv', '-r', '-M'];
  const { ok, out, error } = await withRepository(place, options, (run) =>
    run([...SETTINGS, 'diff-tree', ...plain, ...args, ...trees]),
  );
  return ok ? { text: out } : { problem: error };
}

/** Removes what no snapshot of these trees needs and was not made since `expire`, a date as git understands it. */
export async function pruneSnapshots(
  repository: string,
  trees: readonly string[],
  options: GitOptions,
  expire = '1.hour.ago',
): Promise<void> {
  if (!existsSync(join(repository, 'HEAD'))) return;
  const place = { top: repository, gitDir: repository, commonDir: repository };
  await withRepository(place, options, async (run) => {
    // One tree of all of them: their names may be too long for a command.
    const listed = [...new Set(trees)].map((tree) => `040000 tree ${tree}\t${tree}\n`).join('');
    const all = await run([...SETTINGS, 'mktree', '--missing'], { stdin: listed });
    if (all.ok) await run([...SETTINGS, 'prune', `--expire=${expire}`, all.out]);
  });
}

const indexOf = (repository: string, folder: string): string =>
  join(repository, 'folders', createHash('sha256').update(folder).digest('hex').slice(0, 24));

/** Attributes of a project that convert files, or run programs for that, do not count here. */
const ATTRIBUTES = '* -text !eol !filter !ident !working-tree-encoding !crlf\n';

async function ensureRepository(repository: string, options: GitOptions): Promise<string | null> {
  if (existsSync(join(repository, 'folders'))) return null;
  // Not recursive: a folder `.raymond` that somebody has removed must stay gone, so that the run notices.
  if (!existsSync(repository)) await mkdir(repository, { mode: 0o700 });
  const made = await createLooseGit(options)('init', '--quiet', '--bare', '--template=', '--', repository);
  if (!made.ok) return made.error;
  await mkdir(join(repository, 'info'), { recursive: true });
  await writeFile(join(repository, 'info/attributes'), ATTRIBUTES);
  await mkdir(join(repository, 'folders'), { recursive: true });
  return null;
}

/** Copies an index with its time, by which git knows the files that may have changed since; false if there is none. */
async function copyIndex(index: string, draft: string): Promise<boolean> {
  try {
    const { atime, mtime } = await stat(index);
    await copyFile(index, draft);
    await utimes(draft, atime, mtime);
    return true;
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
    return false;
  }
}

/** Brings the index up to date with the files. */
async function addChanges(
  folder: string,
  commonDir: string | null,
  draft: string,
  git: RepositoryGit,
): Promise<
  | { readonly isChanged: boolean; readonly leftOut: readonly string[] }
  | { readonly problem: string; readonly isFinal: boolean }
> {
  const exclude = commonDir === null ? null : join(commonDir, 'info/exclude');
  const own = exclude !== null && existsSync(exclude) ? [`--exclude-from=${exclude}`] : [];
  const list = ['ls-files', '-z', '--others', '--modified', '--deleted', '--exclude-standard', ...own];
  const listed = await git(list);
  if (!listed.ok) return { problem: listed.error, isFinal: false };
  const paths = splitPaths(listed.out);
  const excess = describeExcess((await readIndexSize(draft)) + paths.length, commonDir !== null);
  if (excess !== null) return { problem: excess, isFinal: true };
  const [added, removed, leftOut]: [string[], string[], string[]] = [[], [], []];
  const isBelowLink = createLinkFinder(folder);
  for (const path of await listNested(folder, paths, `${draft}.none`, git)) {
    const stats = isBelowLink(path) ? undefined : lstatOf(join(folder, path));
    const isTooLarge = stats?.isFile() === true && stats.size > MAX_FILE_BYTES;
    if (isTooLarge) leftOut.push(path);
    // A path of the index that is a folder by now has no content of its own.
    (stats === undefined || isTooLarge || stats.isDirectory() ? removed : added).push(path);
  }
  for (const [change, files] of [
    [['--force-remove'], removed],
    // One that is gone by now is removed.
    [['--add', '--remove', '--replace'], added],
  ] as const) {
    if (files.length === 0) continue;
    const updated = await git(['update-index', ...change, '-z', '--stdin'], { stdin: `${files.join('\0')}\0` });
    if (!updated.ok) return { problem: updated.error, isFinal: false };
  }
  return { isChanged: added.length + removed.length > 0, leftOut };
}

/** Finds out whether a path leads through a link: what is behind it is not of the folder. */
function createLinkFinder(folder: string): (path: string) => boolean {
  const known = new Map<string, boolean>([['.', false]]);
  const leadsThrough = (path: string): boolean => {
    const before = known.get(path);
    if (before !== undefined) return before;
    const isLink = lstatOf(join(folder, path))?.isSymbolicLink() ?? false;
    const found = isLink || leadsThrough(dirname(path));
    known.set(path, found);
    return found;
  };
  return (path) => leadsThrough(dirname(path));
}

function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The paths, with the files of repositories within the folder in the place of these. */
async function listNested(
  folder: string,
  paths: readonly string[],
  noIndex: string,
  git: RepositoryGit,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    if (!path.endsWith('/')) found.push(path);
    else {
      const top = join(folder, path);
      const variables = { GIT_WORK_TREE: top, GIT_INDEX_FILE: noIndex };
      const inner = await git(['ls-files', '-z', '--others', '--exclude-standard'], { cwd: top, variables });
      const files = splitPaths(inner.out).map((each) => path + each);
      if (inner.ok) found.push(...(await listNested(folder, files, noIndex, git)));
    }
  }
  return found;
}

const splitPaths = (out: string): readonly string[] => [...new Set(out.split('\0').filter((path) => path !== ''))];

function describeExcess(files: number, isProject: boolean): string | null {
  const limit = isProject ? MAX_PROJECT_FILES : MAX_PLAIN_FILES;
  if (files <= limit) return null;
  return `it has more than ${limit.toLocaleString('en')} files${isProject ? '' : ' and is no git project'}`;
}

/** Looks whether a folder outside of git has too much in it; null if it has not. */
async function findExcess(folder: string): Promise<string | null> {
  let [files, bytes] = [0, 0];
  const folders = [folder];
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== '.git' && entry.name !== '.raymond') folders.push(path);
        continue;
      }
      files += 1;
      const { size } = await lstat(path).catch(() => ({ size: 0 }));
      if (size <= MAX_FILE_BYTES) bytes += size;
      const excess = describeExcess(files, false);
      if (excess !== null) return excess;
      if (bytes > MAX_PLAIN_BYTES) return 'it has more than 1 GB and is no git project';
    }
  }
  return null;
}
