import { readdir, readFile, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { ClaudeTurn } from '../core/due.ts';
import { hasWildcard, matchesGlob } from '../core/glob.ts';
import type { TurnContext } from './turn-context.ts';

/** Explains why an agent may not change to a folder that exists; undefined if it may. */
export type FolderJudge = (path: string) => Promise<string | undefined>;

/** Folders of the project in which a file that is written can make programs run code. */
const GUARDED_NAMES = ['.git', '.raymond', '.claude'];

const REMEDY = '`cd` in the policy of the state, or `allow_cd` in config.toml, can permit it';

/**
 * Judges the folders that the answer of a prompt may change to: where Claude Code works, it may write. Paths are compared
 * with their links resolved.
 */
export function createFolderJudge(
  context: Pick<TurnContext, 'startFolder' | 'workflowFolders' | 'options' | 'env'>,
  turn: Pick<ClaudeTurn, 'policy' | 'cwd' | 'taskFolder' | 'runFolder'>,
  /** The agent's own worktree, which may be a clone: then no other repository knows it. */
  worktree: string | null = null,
): FolderJudge {
  return async (path) => {
    const folder = await realpath(path);
    const start = await resolveExisting(context.startFolder);
    const workflows = await Promise.all(context.workflowFolders().map(resolveExisting));
    if (workflows.some((workflow) => isWithin(folder, workflow) && !isWithin(start, workflow)))
      return 'it belongs to the workflow itself, which no prompt may change';
    if (isWithin(folder, start) && !isGuarded(relative(start, folder))) return undefined;
    const named = [
      ...turn.policy.flatMap(({ attributes }) => (attributes.cd === undefined ? [] : resolve(turn.cwd, attributes.cd))),
      ...context.options.allowCd.map((glob) => resolve(start, expandHome(glob, context.env.HOME))),
    ];
    for (const pattern of named) if (await isPermittedBy(pattern, folder)) return undefined;
    for (const own of [turn.taskFolder, turn.runFolder])
      if (own !== null && isWithin(folder, await resolveExisting(own))) return undefined;
    for (const registered of await listWorktrees(start)) if (isWithin(folder, registered)) return undefined;
    const own = worktree === null ? null : await resolveExisting(worktree);
    if (own !== null && isWithin(folder, own) && !isGuarded(relative(own, folder))) return undefined;
    return isWithin(folder, start)
      ? `what is written there can run programs; ${REMEDY}`
      : `it is neither in the folder that the run was started in nor a worktree of its repository; ${REMEDY}`;
  };
}

const isWithin = (path: string, folder: string): boolean => {
  const fromFolder = relative(folder, path);
  return fromFolder !== '..' && !fromFolder.startsWith(`..${sep}`) && !isAbsolute(fromFolder);
};

const isGuarded = (relativePath: string): boolean =>
  relativePath.split(sep).some((name) => GUARDED_NAMES.includes(name.toLowerCase()));

const resolveExisting = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));

const expandHome = (path: string, home: string | undefined): string =>
  home !== undefined && /^~(?=$|[/\\])/.test(path) ? `${home}${path.slice(1)}` : path;

/** Whether a pattern names the folder or one above it. Links in the part without wildcards are resolved. */
async function isPermittedBy(pattern: string, folder: string): Promise<boolean> {
  const names = pattern.split(sep);
  const firstWildcard = names.findIndex(hasWildcard);
  if (firstWildcard === -1) return isWithin(folder, await resolveExisting(pattern));
  const fixed = await resolveExisting(names.slice(0, firstWildcard).join(sep) || sep);
  const resolved = join(fixed, ...names.slice(firstWildcard));
  for (let each = folder; ; each = dirname(each)) {
    if (matchesGlob(resolved, each)) return true;
    if (each === dirname(each)) return false;
  }
}

/**
 * Lists the worktrees that are registered in the repository of a folder, except its main one. Each must point back: a
 * file that somebody wrote into `.git` does not make a worktree of any other folder.
 */
async function listWorktrees(start: string): Promise<readonly string[]> {
  const repository = await findRepository(start);
  if (repository === null) return [];
  const registry = join(repository, 'worktrees');
  const names = await readdir(registry).catch((): string[] => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const entry = join(registry, name);
      const gitFile = await readPath(join(entry, 'gitdir'), entry);
      if (gitFile === null || basename(gitFile) !== '.git') return [];
      const pointsBack = await readPath(gitFile, dirname(gitFile));
      if (pointsBack === null || (await resolveExisting(pointsBack)) !== (await resolveExisting(entry))) return [];
      const worktree = await resolveExisting(dirname(gitFile));
      // One that contains the start folder would lead up from it.
      return isWithin(start, worktree) ? [] : [worktree];
    }),
  );
  return found.flat();
}

/** The folder in which a repository keeps what all its worktrees share; null outside of a repository. */
async function findRepository(start: string): Promise<string | null> {
  for (let folder = start; ; folder = dirname(folder)) {
    const git = join(folder, '.git');
    if ((await readdir(git).catch(() => null)) !== null) return git;
    const linked = await readPath(git, folder);
    if (linked !== null) return (await readPath(join(linked, 'commondir'), linked)) ?? linked;
    if (folder === dirname(folder)) return null;
  }
}

/** The path that a file of git holds, absolute; null if there is no such file. */
async function readPath(file: string, base: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  const path = text?.replace(/^gitdir: /, '').trim();
  return path === undefined || path === '' ? null : resolve(base, path);
}
