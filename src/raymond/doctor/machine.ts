import { readFile } from 'node:fs/promises';
import { isAtLeast, parseVersion, type Version, versionText } from '../../turns/claude/version.ts';
import { askProgram, firstLine } from '../ask-program.ts';
import { type Check, odd, well, wrong } from './check.ts';

const OLDEST_NODE: Version = [20, 19, 0];
const SHELL = '/bin/bash';

/** Whether this Node is one that Raymond is tested with. */
export const node: Check = async () => judgeNode(process.versions.node, process.execPath);

/** Likewise for any version. */
export function judgeNode(version: string, path: string): ReturnType<typeof well> {
  const parsed = parseVersion(version);
  if (parsed !== null && isAtLeast(parsed, OLDEST_NODE)) return well(`${version} at ${path}`);
  const said = `${version} at ${path}; Raymond needs ${versionText(OLDEST_NODE)} or newer`;
  return wrong(said, 'Install a newer Node: https://nodejs.org');
}

/** Whether scripts can be run. */
export const bash: Check = async ({ cwd, env }) => {
  if (process.platform === 'win32') return null;
  const { stdout, stderr, code, failure } = await askProgram(SHELL, ['-c', 'echo "$BASH_VERSION"'], { cwd, env });
  if (code === 0 && stdout.trim() !== '') return well(`${stdout.trim()} at ${SHELL}`);
  if (failure === 'ENOENT') return wrong(`there is no ${SHELL}, which runs the scripts (.sh)`, 'Install bash.');
  const why = firstLine(stderr) || failure || 'it said nothing';
  return wrong(`${SHELL} does not work: ${why}`, 'Scripts (.sh) need it; install it anew.');
};

/** Whether what agents do to files can be seen and taken back. */
export const git: Check = async (patient) => {
  const said = await askProgram('git', ['--version'], patient);
  if (said.failure !== null || said.code !== 0) {
    return odd('not found', 'Raymond itself does not need it; workflows that commit do.');
  }
  const version = parseVersion(said.stdout);
  const name = version === null ? firstLine(said.stdout) : versionText(version);
  const here = await askProgram('git', ['rev-parse', '--show-toplevel'], patient);
  if (here.code === 0) return well(`${name}, repository ${here.stdout.trim()}`);
  if (/not a git repository/i.test(here.stderr)) {
    return odd(
      `${name}; this folder is in no repository`,
      'In one, you can see and take back what agents change: git init',
    );
  }
  return odd(`${name}; it says: ${firstLine(here.stderr)}`, 'Fix this if agents should use git here.');
};

const FEWEST_FILES = 1_024;
const FEWEST_PROCESSES = 500;

/** How much the system lets us have at once. A Claude Code is some dozen threads, and its tools come on top. */
export const limits: Check = async (patient) => {
  if (process.platform === 'win32') return null;
  const { stdout, code } = await askProgram(SHELL, ['-c', 'ulimit -n; ulimit -u'], patient);
  if (code !== 0) return null;
  const group = await readFile('/sys/fs/cgroup/pids.max', 'utf8').catch(() => '');
  const [files = Number.NaN, user = Number.NaN] = stdout.split('\n').map(countOf);
  const processes = Math.min(user, group === '' ? user : countOf(group));
  const said = `${shown(files)} open files, ${shown(processes)} processes`;
  if (files < FEWEST_FILES) return odd(said, `Few files: \`ulimit -n ${FEWEST_FILES}\` before a run with many agents.`);
  if (processes < FEWEST_PROCESSES) {
    return odd(said, 'Few processes: let fewer turns run at once (--parallel 2), or raise the limit.');
  }
  return well(said);
};

const countOf = (word: string): number => (/^\d+$/.test(word.trim()) ? Number(word) : Number.POSITIVE_INFINITY);

const shown = (count: number): string => (Number.isFinite(count) ? String(count) : 'any number of');
