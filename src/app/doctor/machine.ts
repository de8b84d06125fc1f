import { readFile } from 'node:fs/promises';
import { errorCodeOf, RaymondError } from '../../errors.ts';
import { findGitPlace } from '../../git-repository.ts';
import { firstLine } from '../../language/text/text.ts';
import { execProgram } from '../../process/exec-program.ts';
import { findSandbox } from '../../process/sandbox.ts';
import {
  type ClaudeVersion,
  formatClaudeVersion,
  isAtLeast,
  parseClaudeVersion,
} from '../../turns/claude/find-claude.ts';
import { checkSandbox } from '../../turns/sandbox/check.ts';
import { errorResult, type HealthCheck, okResult, skippedResult, warningResult } from './check.ts';

const MIN_NODE_VERSION: ClaudeVersion = [20, 19, 0];
const BASH_PATH = '/bin/bash';

/** Checks that this version of Node is supported. */
export const checkNode: HealthCheck = async () => checkNodeVersion(process.versions.node, process.execPath);

/** Checks that a version of Node is supported. */
export function checkNodeVersion(version: string, path: string): ReturnType<typeof okResult> {
  const parsed = parseClaudeVersion(version);
  if (parsed !== null && isAtLeast(parsed, MIN_NODE_VERSION)) return okResult(`${version} at ${path}`);
  const message = `${version} at ${path}; Raymond needs ${formatClaudeVersion(MIN_NODE_VERSION)} or newer`;
  return errorResult(message, 'Install a newer Node: https://nodejs.org');
}

/** Checks that scripts can be run. */
export const checkBash: HealthCheck = async ({ cwd, env }) => {
  if (process.platform === 'win32') return null;
  const { stdout, stderr, exitCode, spawnError } = await execProgram(BASH_PATH, ['-c', 'echo "$BASH_VERSION"'], {
    cwd,
    env,
  });
  if (exitCode === 0 && stdout.trim() !== '') return okResult(`${stdout.trim()} at ${BASH_PATH}`);
  if (errorCodeOf(spawnError) === 'ENOENT')
    return errorResult(`there is no ${BASH_PATH}, which runs the scripts (.sh)`, 'Install bash.');
  const reason = firstLine(stderr) || spawnError?.message || 'it printed nothing';
  return errorResult(`${BASH_PATH} does not work: ${reason}`, 'Scripts (.sh) need it; reinstall it.');
};

/** The first version that can be told to ignore bare repositories which nobody named. */
const EXPLICIT_BARE_SINCE: ClaudeVersion = [2, 38, 0];

/** Checks for git, with which changes of agents can be seen and undone. */
export const checkGit: HealthCheck = async (context) => {
  const result = await execProgram('git', ['--version'], context);
  if (result.spawnError !== null || result.exitCode !== 0) {
    return warningResult('not found', 'Raymond itself does not need it; workflows that commit do.');
  }
  const version = parseClaudeVersion(result.stdout);
  const name = version === null ? firstLine(result.stdout) : formatClaudeVersion(version);
  if (version !== null && !isAtLeast(version, EXPLICIT_BARE_SINCE)) {
    return warningResult(
      `${name} obeys any folder that looks like a bare repository, also one that an agent wrote`,
      `Install git ${formatClaudeVersion(EXPLICIT_BARE_SINCE)} or newer.`,
    );
  }
  // Found without git, which would obey the settings of whatever it finds.
  const repository = findGitPlace(context.cwd);
  if (repository !== null) return okResult(`${name}, repository ${repository.top}`);
  return warningResult(
    `${name}; this folder is in no repository`,
    'In one, you can see and take back what agents change: git init',
  );
};

/** Checks that turns can run in a sandbox. It is an error only where the config asks for one. */
export const checkSandboxHere: HealthCheck = async ({ cwd, env, options }) => {
  try {
    const { bubblewrap, socat } = await findSandbox(env);
    if (options.sandbox === true) await checkSandbox(cwd, options, env);
    return okResult(`${bubblewrap} with ${socat}`);
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const judge = options.sandbox === true ? errorResult : skippedResult;
    return judge(`--sandbox does not work: ${error.message}`, error.hint ?? '');
  }
};

const MIN_OPEN_FILES = 1_024;
const MIN_PROCESSES = 500;

/** Checks the limits of open files and processes. One Claude Code has dozens of threads, and its tools come on top. */
export const checkProcessLimits: HealthCheck = async (context) => {
  if (process.platform === 'win32') return null;
  const { stdout, exitCode } = await execProgram(BASH_PATH, ['-c', 'ulimit -n; ulimit -u'], context);
  if (exitCode !== 0) return null;
  const cgroupLimit = await readFile('/sys/fs/cgroup/pids.max', 'utf8').catch(() => '');
  const [files = Number.NaN, userProcesses = Number.NaN] = stdout.split('\n').map(parseLimit);
  const processes = Math.min(userProcesses, cgroupLimit === '' ? userProcesses : parseLimit(cgroupLimit));
  const message = `${formatLimit(files)} open files, ${formatLimit(processes)} processes`;
  if (files < MIN_OPEN_FILES)
    return warningResult(message, `Few files: \`ulimit -n ${MIN_OPEN_FILES}\` before a run with many agents.`);
  if (processes < MIN_PROCESSES) {
    return warningResult(message, 'Few processes: let fewer turns run at once (--parallel 2), or raise the limit.');
  }
  return okResult(message);
};

const parseLimit = (text: string): number => (/^\d+$/.test(text.trim()) ? Number(text) : Number.POSITIVE_INFINITY);

const formatLimit = (count: number): string => (Number.isFinite(count) ? String(count) : 'any number of');
