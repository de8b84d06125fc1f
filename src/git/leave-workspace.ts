import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { WorkspaceContent, WorkspacePlace } from '../core/run/workspace.ts';
import { createGit, type GitOptions } from './git.ts';
import { isDirty } from './git-status.ts';
import { findMore } from './held-work.ts';
import { listRemote, pushBranch, REMOTE_NAME } from './remote.ts';
import { isHalfRemoved } from './tree-folder.ts';
import { openWorkspace, removeClone, type WantedWorkspace } from './workspace.ts';

/** The content of a finished run's clone, the reason why its commits are not pushed, and other warnings. */
interface LeftWorkspace {
  readonly content: WorkspaceContent;
  readonly problem?: string;
  readonly warning?: string;
}

type LeavableWorkspace = WantedWorkspace & { readonly place: WorkspacePlace };

/**
 * Pushes what a run has committed, and removes its clone if the run is over and everything in it is pushed. If it is gone, a crash came after
 * that or somebody removed it: then what was pushed of it is looked at, and nobody is told that this is all.
 */
export async function leaveWorkspace(
  wanted: LeavableWorkspace,
  isOver: boolean,
  options: GitOptions,
): Promise<LeftWorkspace> {
  // A clone that is half removed was pushed before.
  const wasGone = !existsSync(wanted.path) && !isHalfRemoved(wanted.path);
  const left = await pushAndRemove(wanted, isOver, options);
  if (!wasGone || left.problem !== undefined) return left;
  const warning = `the clone ${wanted.path} was gone: what was in it and not pushed before is lost`;
  return { ...left, warning: left.warning === undefined ? warning : `${warning}; ${left.warning}` };
}

async function pushAndRemove(wanted: LeavableWorkspace, isOver: boolean, options: GitOptions): Promise<LeftWorkspace> {
  const opened = await openWorkspace(wanted, options);
  const unknown = { kept: existsSync(wanted.path), commits: 0, dirty: false, pushed: false };
  if ('message' in opened)
    return { content: unknown, problem: `the clone ${wanted.path} is gone, and ${opened.message}` };
  const { place } = opened;
  if (wanted.place.path !== place.path)
    return {
      content: unknown,
      problem: `the clone ${wanted.place.path} is not on this machine: what is only in it is not pushed`,
    };
  const left = await pushCommits(place, wanted.isOfAgent === true, { ...options, repository: place.repository });
  const { content, problem } = left;
  if (problem !== undefined) return { content, problem };
  if (!isOver || content.dirty) return { content };
  if (left.more !== null) return { content, warning: `the clone ${place.path} stays: it holds ${left.more}` };
  const obstacle = await removeClone(place.path);
  if (obstacle !== null) return { content, warning: `the clone ${place.path} could not be removed: ${obstacle}` };
  return { content: { ...content, kept: false } };
}

interface PushedClone extends Omit<LeftWorkspace, 'warning'> {
  /** The work that would be lost with the clone, besides changes in its files; null for none. */
  readonly more: string | null;
}

/** Pushes the branches of a run and of its workers. What is pushed is asked of the repository: who works in a clone can write there what they like. */
async function pushCommits(place: WorkspacePlace, isOfAgent: boolean, options: GitOptions): Promise<PushedClone> {
  const { path, base, remote } = place;
  const git = createGit(path, options);
  const fail = (content: Pick<WorkspaceContent, 'commits' | 'dirty'>, problem: string): PushedClone => ({
    content: { ...content, kept: true, pushed: false },
    problem,
    more: null,
  });
  const held = await inspectClone(place, options);
  if ('problem' in held)
    return fail({ commits: 0, dirty: false }, `what the clone ${path} holds is not known: ${held.problem}`);
  const { commits, dirty, branches, hasNew, known } = held;
  const content = { kept: true, commits, dirty, pushed: true };
  if (!hasNew) return { content, more: await findMore(git, [base]) };
  const there = await listRemote(git, remote);
  if ('problem' in there && branches.length === 0) return { content, more: `what is not known: ${there.problem}` };
  const problems: string[] = [];
  for (const { name, tip } of branches) {
    if ('problem' in there) problems.push(`the branch ${name} cannot be pushed: ${there.problem}`);
    else if (there.get(`refs/heads/${name}`) !== tip) {
      const problem = await pushBranch(git, remote, name);
      if (problem !== null) problems.push(problem);
    }
  }
  if ('problem' in there || problems.length > 0) {
    const where = `What was committed is in ${path}${isOfAgent ? '' : ', and a resume pushes it'}`;
    return fail({ commits, dirty }, `${problems.join('; ')}. ${where}`);
  }
  const pushed = new Set(there.values());
  return {
    content,
    more: await findMore(git, [
      base,
      ...branches.map(({ tip }) => tip),
      ...known.filter((commit) => pushed.has(commit)),
    ]),
  };
}

interface HeldByClone extends Pick<WorkspaceContent, 'commits' | 'dirty'> {
  /** The branches of the run and of its workers that have commits. */
  readonly branches: readonly { readonly name: string; readonly tip: string }[];
  /** True if any branch has commits that were not there at first. */
  readonly hasNew: boolean;
  /** The commits that the remote had when it was last looked at, if the clone tells the truth. */
  readonly known: readonly string[];
}

async function inspectClone(
  { path, branch, base }: WorkspacePlace,
  options: GitOptions,
): Promise<HeldByClone | { readonly problem: string }> {
  const git = createGit(path, options);
  const [dirty, count, all, own, known] = await Promise.all([
    isDirty(path, options),
    git('rev-list', '--count', `refs/heads/${branch}`, 'HEAD', '--not', base, '--'),
    git('rev-list', '--count', '--branches', 'HEAD', '--not', base, '--'),
    git('for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', `refs/heads/${dirname(branch)}/`),
    git('for-each-ref', '--format=%(objectname)', `refs/remotes/${REMOTE_NAME}`, 'refs/tags'),
  ]);
  if (typeof dirty !== 'boolean') return dirty;
  for (const { ok, error } of [count, all, own, known]) if (!ok) return { problem: error };
  const branches = linesOf(own.out).flatMap((line) => {
    const [tip = '', name = ''] = line.split(' ');
    return tip === base ? [] : [{ name, tip }];
  });
  return {
    commits: Number(count.out),
    dirty,
    branches,
    hasNew: all.out !== '0' || branches.length > 0,
    known: linesOf(known.out),
  };
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'));
