import type { Git } from './git.ts';

/** The branches and tags of a repository elsewhere: their names, each with its commit; or why they are not known. */
export async function listRemote(
  git: Git,
  remote: string,
): Promise<ReadonlyMap<string, string> | { readonly problem: string }> {
  const { ok, out, error } = await git(...NO_STALLS, 'ls-remote', '--quiet', '--heads', '--tags', '--', remote);
  if (!ok) return { problem: explainRemoteError(error, remote) };
  return new Map(
    out.split('\n').flatMap((line): [string, string][] => {
      const [commit, name] = line.split('\t');
      return commit === undefined || name === undefined ? [] : [[name, commit]];
    }),
  );
}

/** Pushes a branch, never by force, and notes that it is there; returns why that was not possible. */
export async function pushBranch(git: Git, remote: string, branch: string): Promise<string | null> {
  const ref = `refs/heads/${branch}`;
  const tip = await git('rev-parse', '--verify', '--quiet', ref);
  if (!tip.ok) return `the branch ${branch} is gone: ${tip.error}`;
  // By its address: an agent that works in a clone can make the name of a remote mean another one.
  const { ok, error } = await git(...NO_STALLS, 'push', '--quiet', '--', remote, `${tip.out}:${ref}`);
  if (!ok && !(await isContained(git, remote, ref, tip.out))) return explainPushError(error, remote, branch);
  await git('update-ref', `refs/remotes/${REMOTE_NAME}/${branch}`, tip.out);
  return null;
}

/** True if a branch elsewhere has a commit, because somebody has continued from it. */
async function isContained(git: Git, remote: string, ref: string, commit: string): Promise<boolean> {
  if (!(await git(...NO_STALLS, 'fetch', '--quiet', '--no-tags', '--', remote, ref)).ok) return false;
  return (await git('merge-base', '--is-ancestor', commit, 'FETCH_HEAD')).ok;
}

/** The name of the repository in its clones. */
export const REMOTE_NAME = 'origin';

/** The setting of a clone with the address of its repository. */
export const REMOTE_URL = `remote.${REMOTE_NAME}.url`;

/** A connection on which nothing moves for a minute is given up. */
export const NO_STALLS = ['-c', 'http.lowSpeedLimit=1', '-c', 'http.lowSpeedTime=60'] as const;

function explainPushError(error: string, remote: string, branch: string): string {
  if (/non-fast-forward|fetch first/.test(error))
    return `${remote} has a branch ${branch} with other commits, and nothing is ever forced: rename or merge one of them`;
  const rejected = /\[remote rejected\][^(]*\((.*?)\)/.exec(error)?.[1];
  if (rejected !== undefined) return `${remote} refuses the branch ${branch}: ${rejected}`;
  return `the branch ${branch} cannot be pushed: ${explainRemoteError(error, remote)}`;
}

/** Why git cannot work with a repository elsewhere, in words that say what to do. */
export function explainRemoteError(error: string, remote: string): string {
  const known = REMOTE_ERRORS.find(({ pattern }) => pattern.test(error));
  return known === undefined ? error : `${known.explain(remote)} (${error})`;
}

const REMOTE_ERRORS: readonly { readonly pattern: RegExp; readonly explain: (remote: string) => string }[] = [
  {
    pattern:
      /could not read (?:Username|Password)|Authentication failed|terminal prompts disabled|Permission denied|Host key verification failed|returned error: 40[13]/i,
    explain: (remote) =>
      `${remote} wants credentials, and nobody is asked for them here: set up a credential helper of git or a key on this machine`,
  },
  {
    pattern:
      /Could not resolve host|unable to connect|Connection (?:refused|timed out|reset)|Network is unreachable|Operation too slow|Failed to connect|Could not connect/i,
    explain: (remote) => `${remote} cannot be reached`,
  },
  {
    pattern: /not appear to be a git repository|repository .* not found|does not exist|returned error: 404/i,
    explain: (remote) => `there is no git repository at ${remote}`,
  },
];
