import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { PromptTurn } from '../core/turns/due.ts';
import { findNewRepository } from '../git/new-repository.ts';
import { findGitPlace, isWithin, readPathFile } from '../git-repository.ts';
import { hasWildcard, matchesGlob } from '../language/text/glob.ts';
import type { TurnContext } from './turn-context.ts';

/** Explains why an agent may not use a folder that exists; undefined if it may. To read a file from it, nobody enters it. */
export type FolderJudge = (path: string, use?: 'enter' | 'read') => Promise<string | undefined>;

/** Folders of the project in which a file that is written can make programs run code. */
const GUARDED_NAMES = ['.git', '.raymond', '.claude'];

const REMEDY = '`cd` in the policy of the state, or `allow_cd` in config.toml, can permit it';

/**
 * Judges the folders that the answer of a prompt may change to: where Claude Code works, it may write. Paths are compared
 * with their links resolved.
 */
export function createFolderJudge(
  context: Pick<TurnContext, 'startFolder' | 'startedAt' | 'workflowFolders' | 'options' | 'env'>,
  turn: Pick<PromptTurn, 'policy' | 'cwd' | 'taskFolder' | 'runFolder'>,
  /** The agent's own worktree, which may be a clone: then no other repository knows it. */
  worktree: string | null = null,
): FolderJudge {
  return async (path, use = 'enter') => {
    const folder = await realpath(path);
    const start = await resolveExisting(context.startFolder);
    const workflows = await Promise.all(context.workflowFolders().map(resolveExisting));
    if (workflows.some((workflow) => isWithin(folder, workflow) && !isWithin(start, workflow)))
      return 'it belongs to the workflow itself, which no prompt may change';
    const named = [
      ...turn.policy.flatMap(({ attributes }) => (attributes.cd === undefined ? [] : resolve(turn.cwd, attributes.cd))),
      ...context.options.allowCd.map((glob) => resolve(start, expandHome(glob, context.env.HOME))),
    ];
    const worktrees = await listWorktrees(start);
    const own = worktree === null ? null : await resolveExisting(worktree);
    const refused = await judgePlace();
    if (refused !== undefined || use === 'read') return refused;
    const entered = [start, await resolveExisting(turn.cwd), ...worktrees, ...(own === null ? [] : [own])];
    const exact = await Promise.all(named.filter((pattern) => !hasWildcard(pattern)).map(resolveExisting));
    const planted = findNewRepository(folder, { entered, named: exact, start, startedAt: context.startedAt });
    return planted === null
      ? undefined
      : `${planted} has become a git repository since the run started, or its settings have changed, and git starts programs that a repository names; ${REMEDY} if it names that very folder`;

    async function judgePlace(): Promise<string | undefined> {
      if (isWithin(folder, start) && !isGuarded(relative(start, folder))) return undefined;
      for (const pattern of named) if (await isPermittedBy(pattern, folder)) return undefined;
      for (const each of [turn.taskFolder, turn.runFolder])
        if (each !== null && isWithin(folder, await resolveExisting(each))) return undefined;
      for (const registered of worktrees) if (isWithin(folder, registered)) return undefined;
      if (own !== null && isWithin(folder, own) && !isGuarded(relative(own, folder))) return undefined;
      return isWithin(folder, start)
        ? `what is written there can run programs; ${REMEDY}`
        : `it is neither in the folder that the run was started in nor a worktree of its repository; ${REMEDY}`;
    }
  };
}

const isGuarded = (relativePath: string): boolean =>
  relativePath.split(sep).some((name) => GUARDED_NAMES.includes(name.toLowerCase()));

const resolveExisting = (path: string): Promise<string> => realpath(path).catch(() => resolve(path));

const expandHome = (path: string, home: string | undefined): string =>
  home !== undefined && /^~(?=$|[/\\])/.test(path) ? `${home}${path.slice(1)}` : path;

/** True if a pattern names the folder or one above it. Links in the part without wildcards are resolved. */
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
  const repository = findGitPlace(start)?.commonDir;
  if (repository === undefined) return [];
  const registry = join(repository, 'worktrees');
  const names = await readdir(registry).catch((): string[] => []);
  const found = await Promise.all(
    names.map(async (name) => {
      const entry = join(registry, name);
      const gitFile = readPathFile(join(entry, 'gitdir'), entry);
      if (gitFile === null || basename(gitFile) !== '.git') return [];
      const pointsBack = readPathFile(gitFile, dirname(gitFile), 'gitdir: ');
      if (pointsBack === null || (await resolveExisting(pointsBack)) !== (await resolveExisting(entry))) return [];
      const worktree = await resolveExisting(dirname(gitFile));
      // One that contains the start folder would lead up from it.
      return isWithin(start, worktree) ? [] : [worktree];
    }),
  );
  return found.flat();
}
