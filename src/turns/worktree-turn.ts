import { existsSync } from 'node:fs';
import { mkdir, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { WorktreeContent, WorktreePlace } from '../core/agent.ts';
import type { WorktreeTurn } from '../core/due.ts';
import type { WorktreeClosed, WorktreeMade, WorktreeRefused } from '../core/signal.ts';
import { execProgram } from '../process/exec-program.ts';
import type { TurnContext } from './turn-context.ts';

/** Makes the worktree of a worker, or looks at what it has left in it. It may be done again after a crash at any instant. */
export async function takeWorktreeTurn(
  context: TurnContext,
  { agent, cwd, place }: WorktreeTurn,
): Promise<WorktreeMade | WorktreeRefused | WorktreeClosed> {
  const { clock, runId } = context;
  if (place !== null) {
    const closed = await closeWorktree(newGit(context, dirname(place.path)), place);
    return { kind: 'worktree_closed', at: clock.now(), agent, ...closed };
  }
  const wanted = { path: context.worktreeFolder(agent), branch: `raymond/${runId}/${agent}` };
  const made = await makeWorktree(newGit(context, cwd), cwd, wanted);
  const base = { at: clock.now(), agent };
  return 'message' in made
    ? { kind: 'worktree_refused', ...base, ...made }
    : { kind: 'worktree_made', ...base, ...made };
}

/** A checkout of a large repository takes its time. */
const GIT_TIMEOUT_MS = 10 * 60_000;

type Git = (
  ...args: readonly string[]
) => Promise<{ readonly ok: boolean; readonly out: string; readonly error: string }>;

/** Runs git in a folder. Its messages are in English, so that they can be understood here. */
const newGit =
  ({ env }: Pick<TurnContext, 'env'>, cwd: string): Git =>
  async (...args) => {
    const result = await execProgram('git', args, { cwd, env: { ...env, LC_ALL: 'C' }, timeoutMs: GIT_TIMEOUT_MS });
    const { exitCode, stdout, stderr, spawnError, timedOut } = result;
    const reason = spawnError?.message ?? (timedOut ? 'it took longer than ten minutes' : stderr.trim());
    return { ok: exitCode === 0, out: stdout.trim(), error: reason.split('\n').slice(-3).join(' ') };
  };

interface WantedWorktree {
  readonly path: string;
  readonly branch: string;
}

type MadeWorktree = Pick<WorktreeMade, 'place' | 'cwd'> | Pick<WorktreeRefused, 'message'>;

/**
 * Makes a worktree from the commit of a folder. One that a crash left half made, or made and not reported, has the name that
 * only this worker has and the commit that it was to have, and nobody has worked in it: it is made again.
 */
async function makeWorktree(git: Git, cwd: string, { path, branch }: WantedWorktree): Promise<MadeWorktree> {
  const refuse = (reason: string): MadeWorktree => ({ message: `no worktree can be made for it: ${reason}` });
  const [top, prefix] = [await git('rev-parse', '--show-toplevel'), await git('rev-parse', '--show-prefix')];
  if (!top.ok) return refuse(`${cwd} is not in the files of a git repository (git says: ${top.error})`);
  const head = await git('rev-parse', '--verify', '--quiet', 'HEAD^{commit}');
  if (!head.ok) return refuse(`the repository ${top.out} has no commit yet: make one first`);
  const tip = await git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
  const registered = await findWorktree(git, path);
  if (tip.ok && tip.out !== head.out)
    return refuse(`there is a branch ${branch} already, with other commits: rename or remove it`);
  if (existsSync(path) && registered === undefined)
    return refuse(`there is a folder ${path} already, which is no worktree of ${top.out}: move it away`);
  if (registered !== undefined && registered.branch !== `refs/heads/${branch}` && registered.branch !== '')
    return refuse(`${path} is a worktree of another branch: remove it with \`git worktree remove\``);
  if (registered !== undefined) await removeWorktree(git, path);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const names = tip.ok ? [path, branch] : ['-b', branch, path, head.out];
  const added = await git('worktree', 'add', '--quiet', ...names);
  if (!added.ok) return refuse(`git says: ${added.error}`);
  return { place: { path, branch, base: head.out }, cwd: join(path, prefix.out) };
}

/** Finds a registered worktree by its path. */
async function findWorktree(git: Git, path: string): Promise<{ readonly branch: string } | undefined> {
  const { out } = await git('worktree', 'list', '--porcelain');
  const real = await realpath(path).catch(() => path);
  const blocks = out.split('\n\n').map((block) => block.split('\n'));
  const found = blocks.find(([first]) => first === `worktree ${path}` || first === `worktree ${real}`);
  return found && { branch: found.find((line) => line.startsWith('branch '))?.slice('branch '.length) ?? '' };
}

/** Removes a worktree with all that is in it; one that is not complete is locked, and perhaps not a folder any more. */
async function removeWorktree(git: Git, path: string): Promise<void> {
  const removed = await git('worktree', 'remove', '--force', '--force', path);
  if (removed.ok) return;
  await git('worktree', 'unlock', path);
  await rm(path, { recursive: true, force: true });
  await git('worktree', 'prune');
}

/** Removes a worktree that holds nothing new, with its branch; any other is kept. If git fails, nothing is removed. */
async function closeWorktree(
  git: Git,
  { path, branch, base }: WorktreePlace,
): Promise<Pick<WorktreeClosed, 'content' | 'warning'>> {
  const content = await inspectWorktree(git, { path, branch, base });
  if ('warning' in content) return { content: { kept: true, commits: 0, dirty: false }, warning: content.warning };
  if (content.kept) return { content };
  const common = await git('-C', path, 'rev-parse', '--git-common-dir');
  const removed = await git('-C', path, 'worktree', 'remove', path);
  if (!removed.ok)
    return {
      content: { ...content, kept: true },
      warning: `the worktree ${path} could not be removed: ${removed.error}`,
    };
  await git('--git-dir', common.out, 'branch', '--quiet', '-D', branch);
  return { content };
}

/** What a worktree holds that its repository did not have before: it is kept if that is anything. */
async function inspectWorktree(
  git: Git,
  { path, branch, base }: WorktreePlace,
): Promise<WorktreeContent | { readonly warning: string }> {
  if (!existsSync(path)) return { warning: `the worktree ${path} is gone; its branch ${branch} is kept` };
  const [status, count] = await Promise.all([
    git('-C', path, 'status', '--porcelain', '--untracked-files=normal'),
    git('-C', path, 'rev-list', '--count', `${base}..${branch}`, 'HEAD', '--not', base),
  ]);
  if (!status.ok || !count.ok)
    return { warning: `the worktree ${path} is kept: git cannot tell what it holds (${status.error || count.error})` };
  const [commits, dirty] = [Number(count.out), status.out !== ''];
  return { kept: commits > 0 || dirty, commits, dirty };
}
