import { statSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GitPlace } from '../git-repository.ts';

/*
 * An agent can write the settings, hooks and filters of a repository, and these name programs to run and other addresses to push to. Git that
 * Raymond runs gets objects, branches and files from there. Its settings come from a folder that only this process knows: those of the
 * repository that say how files are stored, and none that names a program, a file or an address. A list of what is harmful would miss what
 * the next version of git adds; and a file that an agent rewrites between our look and git's is never read by git.
 */

/** Runs git without a repository. */
type LooseGit = (
  ...args: readonly string[]
) => Promise<{ readonly ok: boolean; readonly out: string; readonly error: string }>;

const PREFIX = 'raymond-git-';

/** Makes a folder that stands for the one that the worktrees of a repository share; `readConfig` runs git without any repository. */
export async function makePrivateCommonDir({ gitDir, commonDir }: GitPlace, readConfig: LooseGit): Promise<string> {
  swept ??= removeAbandoned();
  await swept;
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  try {
    const names = (await readdir(commonDir)).filter((name) => !OWN_NAMES.includes(name));
    // Git may have to make these, and must make them there.
    await mkdir(join(commonDir, 'worktrees'), { recursive: true });
    for (const name of new Set([...names, 'packed-refs', 'worktrees']))
      await symlink(join(commonDir, name), join(folder, name));
    await writeFile(join(folder, 'HEAD'), 'ref: refs/heads/none\n');
    const files = [join(commonDir, 'config'), join(gitDir, 'config.worktree')];
    const settings = await Promise.all(files.map((file) => readSettings(file, readConfig)));
    await writeFile(join(folder, 'config'), formatConfig(settings.flat()));
    // It is how Git LFS pushes the files that it keeps: nobody would have them any more when a clone is removed.
    if (names.includes('lfs')) {
      await mkdir(join(folder, 'hooks'));
      await writeFile(join(folder, 'hooks/pre-push'), LFS_PUSH, { mode: 0o755 });
    }
    return folder;
  } catch (error) {
    await removePrivateCommonDir(folder);
    throw error;
  }
}

/** Removes such a folder; what it links to stays. */
export const removePrivateCommonDir = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true }).catch(() => {});

let swept: Promise<void> | undefined;
/** No git command takes as long. */
const ABANDONED_AFTER_MS = 60 * 60_000;

/** Removes what processes left that were killed; once is enough. */
async function removeAbandoned(): Promise<void> {
  const names = await readdir(tmpdir()).catch((): string[] => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const folder = join(tmpdir(), name);
    const stats = await lstat(folder).catch(() => null);
    if (stats !== null && Date.now() - stats.mtimeMs > ABANDONED_AFTER_MS) await removePrivateCommonDir(folder);
  }
}

/** The settings that the repository does not decide. */
const OWN_NAMES: readonly string[] = [
  'HEAD',
  'config',
  'config.worktree',
  'commondir',
  'hooks',
  'packed-refs',
  'index',
];

interface Setting {
  /** Section and key in lower case, with the subsection as it is between them. */
  readonly key: string;
  readonly value: string;
}

/** How files are stored and compared, the format of the repository, and the name under which somebody commits. */
const HARMLESS =
  /^(?:core\.(?:filemode|symlinks|ignorecase|precomposeunicode|autocrlf|eol|safecrlf|longpaths|bigfilethreshold|sharedrepository|logallrefupdates|splitindex|untrackedcache|checkstat|trustctime|sparsecheckout|sparsecheckoutcone)|index\.(?:sparse|version|threads|skiphash)|extensions\.(?:objectformat|compatobjectformat|refstorage|partialclone)|user\.(?:name|email))$/;

/** A partial clone fetches the objects that it lacks from there; without its remote, nothing can be checked out. */
const OF_PARTIAL_CLONE = /^remote\..*\.(?:url|promisor|partialclonefilter)$/s;

/** A longer file is no file of settings, and git would read all of it. */
const MAX_CONFIG_BYTES = 16 * 1024 * 1024;

const known = new Map<string, { readonly stamp: string; readonly settings: readonly Setting[] }>();

/** Reads the harmless settings of a file, again only if it has changed. */
async function readSettings(file: string, git: LooseGit): Promise<readonly Setting[]> {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isFile() || stats.size > MAX_CONFIG_BYTES)
    throw new Error(`git does not take ${file} for a file of settings`);
  const stamp = [stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(' ');
  const before = known.get(file);
  if (before?.stamp === stamp) return before.settings;
  const { ok, out, error } = await git('config', '--file', file, '--no-includes', '--list', '-z');
  if (!ok) throw new Error(error);
  const all = out.split('\0').flatMap((entry): readonly Setting[] => {
    if (entry === '') return [];
    const end = entry.indexOf('\n');
    // A key without a value means true.
    return end === -1 ? [{ key: entry, value: 'true' }] : [{ key: entry.slice(0, end), value: entry.slice(end + 1) }];
  });
  const isPartial = all.some(({ key }) => key === 'extensions.partialclone');
  const settings = all.filter(({ key }) => HARMLESS.test(key) || (isPartial && OF_PARTIAL_CLONE.test(key)));
  known.set(file, { stamp, settings });
  return settings;
}

function formatConfig(settings: readonly Setting[]): string {
  const version = settings.some(({ key }) => key.startsWith('extensions.')) ? '1' : '0';
  const own = [
    // Its cleaning up would remove what it does not see from here.
    { key: 'gc.auto', value: '0' },
    { key: 'maintenance.auto', value: 'false' },
    { key: 'core.bare', value: 'false' },
    { key: 'core.repositoryformatversion', value: version },
  ];
  return [...own, ...settings].map(formatSetting).join('');
}

function formatSetting({ key, value }: Setting): string {
  const [first, last] = [key.indexOf('.'), key.lastIndexOf('.')];
  const subsection = first === last ? '' : ` "${key.slice(first + 1, last).replace(/["\\]/g, '\\$&')}"`;
  const quoted = value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return `[${key.slice(0, first)}${subsection}]\n${key.slice(last + 1)} = "${quoted}"\n`;
}

const LFS_PUSH = '#!/bin/sh\ngit lfs version >/dev/null 2>&1 || exit 0\nexec git lfs pre-push "$@"\n';
