import { existsSync } from 'node:fs';
import { copyFile, link, mkdir, open, readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import type { GitPlace } from '../git-repository.ts';
import type { RepositoryGit } from './git.ts';

/** The first index of a folder: where it is to be, and git that works on it. */
interface Seed {
  readonly repository: string;
  readonly draft: string;
  readonly git: RepositoryGit;
}

/**
 * Lets the first snapshot of a git project begin with the index and the objects of the project, so that only changed files are read. Objects
 * are linked: they outlive a clean-up of the project. Where that could make a snapshot differ from the files, it begins with nothing.
 */
export async function seedIndex(place: GitPlace, seed: Seed): Promise<void> {
  try {
    if ((await canSeed(place)) && (await linkObjects(place, seed.repository)) && (await copyIndex(place, seed))) return;
  } catch (error) {
    if (errorCodeOf(error) === '') throw error;
  }
  await rm(seed.draft, { force: true });
}

/** The number of files in an index; 0 if there is none. */
export async function readIndexSize(file: string): Promise<number> {
  const handle = await open(file).catch(() => null);
  if (handle === null) return 0;
  try {
    const header = Buffer.alloc(12);
    await handle.read(header, 0, 12, 0);
    return header.toString('latin1', 0, 4) === 'DIRC' ? header.readUInt32BE(8) : 0;
  } finally {
    await handle.close();
  }
}

/** Settings with which the index or the objects are not what they are elsewhere. */
const OTHER_FORMATS = /objectformat|partialclone|sparsecheckout|splitindex|autocrlf|compatobject|attributesfile/i;
/** Attributes with which a file is not stored as it is. */
const CONVERSIONS = /(?:^|\s)-?(?:text|eol|crlf|filter|ident|working-tree-encoding)(?:\s|=|$)/m;

async function canSeed({ gitDir, commonDir }: GitPlace): Promise<boolean> {
  const settings = await Promise.all(
    [join(commonDir, 'config'), join(gitDir, 'config.worktree')].map((file) => readFile(file, 'utf8').catch(() => '')),
  );
  const attributes = await readFile(join(commonDir, 'info/attributes'), 'utf8').catch(() => '');
  const isShared = (await readdir(gitDir)).some((name) => name.startsWith('sharedindex.'));
  return (
    existsSync(join(gitDir, 'index')) &&
    !isShared &&
    !settings.some((text) => OTHER_FORMATS.test(text)) &&
    !CONVERSIONS.test(attributes) &&
    !existsSync(join(commonDir, 'objects/info/alternates'))
  );
}

/** Links the objects of a project; false if they are on another disk. */
async function linkObjects({ commonDir }: GitPlace, repository: string): Promise<boolean> {
  const [from, to] = [join(commonDir, 'objects'), join(repository, 'objects')];
  for (const folder of await readdir(from)) {
    if (folder !== 'pack' && !/^[0-9a-f]{2}$/.test(folder)) continue;
    await mkdir(join(to, folder), { recursive: true });
    for (const name of await readdir(join(from, folder))) {
      if (name.startsWith('tmp_') || name.endsWith('.lock')) continue;
      try {
        await link(join(from, folder, name), join(to, folder, name));
      } catch (error) {
        // It may be there already, or be packed meanwhile.
        if (!['EEXIST', 'ENOENT'].includes(errorCodeOf(error))) return false;
      }
    }
  }
  return true;
}

/** Copies the index of a project; false if some of its entries say less than the files. */
async function copyIndex({ top, gitDir }: GitPlace, { draft, git }: Seed): Promise<boolean> {
  const index = join(gitDir, 'index');
  const { atime, mtime } = await stat(index);
  await copyFile(index, draft);
  await utimes(draft, atime, mtime);
  const listed = await git(['ls-files', '-z', '-v', '--stage']);
  if (!listed.ok) return false;
  const links: string[] = [];
  for (const line of listed.out.split('\0')) {
    if (line === '') continue;
    const [facts = '', path = ''] = splitOnce(line, '\t');
    // Those that git was told not to look at have small letters, or an S.
    if (/^[a-zS] /.test(facts)) return false;
    if (/ 160000 /.test(` ${facts}`)) links.push(path);
    if (path.endsWith('.gitattributes') && CONVERSIONS.test(await readFile(join(top, path), 'utf8').catch(() => '')))
      return false;
  }
  if (links.length === 0) return true;
  // The files of a submodule are kept, and not only its commit.
  return (await git(['update-index', '--force-remove', '-z', '--stdin'], { stdin: `${links.join('\0')}\0` })).ok;
}

function splitOnce(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
