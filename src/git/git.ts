import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, isAbsolute, join, parse } from 'node:path';
import { errorMessageOf } from '../errors.ts';
import { findGitPlace, type GitPlace, readGitPlace, realPathOf } from '../git-repository.ts';
import { type Environment, inheritEnvironment, MARKER_VARIABLE } from '../process/command.ts';
import { execProgram } from '../process/exec-program.ts';
import { EXPLICIT_BARE_REPOSITORIES, withGitSettings } from './git-settings.ts';
import { makePrivateCommonDir, removePrivateCommonDir } from './private-common-dir.ts';

/** The outcome of a git command: its output, or why it failed. */
export interface GitResult {
  readonly ok: boolean;
  readonly out: string;
  readonly error: string;
}

/** Runs git commands in one folder. */
export type Git = (...args: readonly string[]) => Promise<GitResult>;

/** How to run git. */
export interface GitOptions {
  readonly env: Environment;
  /** Aborted when it is to end early. */
  readonly signal?: AbortSignal;
  /** The repository that the folder must belong to, by the folder that its worktrees share. Otherwise the one that it is found to belong to. */
  readonly repository?: string;
}

/** A checkout of a large repository takes its time. */
const GIT_TIMEOUT_MS = 10 * 60_000;

/** Variables of git that name a repository: here Raymond names it. */
const REPOSITORY_VARIABLES: readonly string[] = [
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_COMMON_DIR',
  'GIT_PREFIX',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
];

/** Nobody is there to answer: git has no terminal, and must open no window. */
const NO_QUESTIONS = {
  GIT_TERMINAL_PROMPT: '0',
  GCM_INTERACTIVE: 'never',
  SSH_ASKPASS_REQUIRE: 'never',
  SSH_ASKPASS: undefined,
};

/** Git must not go into submodules: it would obey the settings of each. */
const SETTINGS = { ...EXPLICIT_BARE_REPOSITORIES, 'submodule.recurse': 'false' };

/**
 * Runs git in a folder of a repository. It starts no program that the repository names: of its settings only harmless ones count, and none of
 * its hooks. Those of the user and of the machine count. Its messages are in English, so that they can be understood here.
 */
export function createGit(cwd: string, options: GitOptions): Git {
  return async (...args) => {
    const place = findPlace(cwd, options.repository);
    if ('problem' in place) return { ok: false, out: '', error: place.problem };
    return withRepository(place, options, (run) => run(args, { cwd })).catch((error: unknown) => {
      return { ok: false, out: '', error: errorMessageOf(error) };
    });
  };
}

/** Runs one git command of several on the same repository. */
export type RepositoryGit = (args: readonly string[], how?: GitCall) => Promise<GitResult>;

/** How one of several git commands differs from the others. */
interface GitCall {
  /** The top of the files if this is left out. */
  readonly cwd?: string;
  readonly stdin?: string;
  readonly variables?: Environment;
}

/** Runs several git commands on a repository, as `createGit` runs one. */
export async function withRepository<T>(
  place: GitPlace,
  options: GitOptions,
  action: (git: RepositoryGit) => Promise<T>,
): Promise<T> {
  const common = await makePrivateCommonDir(place, createLooseGit(options));
  const variables = { GIT_DIR: place.gitDir, GIT_COMMON_DIR: common, GIT_WORK_TREE: place.top };
  try {
    return await action((args, how = {}) =>
      runGit(how.cwd ?? place.top, args, options, { ...variables, ...how.variables }, how.stdin),
    );
  } finally {
    await removePrivateCommonDir(common);
  }
}

/** Runs git without a repository: to clone one, or to read a file of settings. Paths must be absolute. */
export const createLooseGit =
  (options: GitOptions): Git =>
  (...args) =>
    runGit(parse(process.cwd()).root, args, options, {});

/** The repository that git is to work on: `cwd` is a folder in it, or the one that its worktrees share. */
function findPlace(cwd: string, repository: string | undefined): GitPlace | { readonly problem: string } {
  if (!existsSync(cwd)) return { problem: `there is no folder ${cwd}` };
  if (repository === undefined) return findGitPlace(cwd) ?? { problem: `${cwd} is not in a git repository` };
  const [folder, commonDir] = [realPathOf(cwd), realPathOf(repository)];
  if (folder === commonDir) return { top: dirname(commonDir), gitDir: commonDir, commonDir };
  const place = readGitPlace(folder);
  return place?.commonDir === commonDir ? place : { problem: `${cwd} is no worktree of ${repository}` };
}

async function runGit(
  cwd: string,
  args: readonly string[],
  { env, signal }: GitOptions,
  variables: Environment,
  stdin = '',
): Promise<GitResult> {
  const removed = Object.fromEntries(REPOSITORY_VARIABLES.map((name) => [name, undefined]));
  const marker = { [MARKER_VARIABLE]: env[MARKER_VARIABLE] };
  const fixed = { ...NO_QUESTIONS, ...marker, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' };
  const hooks = args[0] === 'config' || !(await hasMovingHooks(env)) ? {} : hooksOf(variables.GIT_COMMON_DIR);
  const settings = { ...SETTINGS, ...hooks };
  const gitEnv = { ...withGitSettings(inheritEnvironment(env), settings), ...removed, ...variables, ...fixed };
  const options = { cwd, env: gitEnv, timeoutMs: GIT_TIMEOUT_MS, stdin, ...(signal && { signal }) };
  const { exitCode, stdout, stderr, spawnError, timedOut } = await execProgram('git', args, options);
  return {
    ok: exitCode === 0,
    out: stdout.replace(/\n$/, ''),
    error:
      spawnError !== null
        ? explainSpawnError(spawnError, cwd)
        : timedOut
          ? 'git took longer than ten minutes'
          : exitCode === null
            ? 'git was killed'
            : `git says: ${lastWords(stderr)}`,
  };
}

/** Git looks for hooks there, instead of where the user's settings say. */
const hooksOf = (commonDir: string | undefined): Readonly<Record<string, string>> => ({
  'core.hooksPath': commonDir === undefined ? devNull : join(commonDir, 'hooks'),
});

const movingHooks = new Map<string, Promise<boolean>>();

/** True if the user's own settings name a relative folder of hooks: git would look for it in whatever project it works on. */
function hasMovingHooks(env: Environment): Promise<boolean> {
  const key = JSON.stringify(Object.entries(env).filter(([name]) => SETTINGS_VARIABLES.test(name)));
  const known = movingHooks.get(key) ?? readMovingHooks(env);
  movingHooks.set(key, known);
  return known;
}

/** Variables that decide which settings of the user git reads. */
const SETTINGS_VARIABLES = /^(?:HOME|XDG_CONFIG_HOME|GIT_CONFIG.*)$/;

async function readMovingHooks(env: Environment): Promise<boolean> {
  const { ok, out } = await createLooseGit({ env })('config', '--type=path', '--get', 'core.hooksPath');
  return ok && out !== '' && !isAbsolute(out);
}

/** The end of what git says, without the advice that it gives. */
const lastWords = (stderr: string): string =>
  stderr
    .split('\n')
    .filter((line) => line.trim() !== '' && !ADVICE.test(line))
    .slice(-3)
    .join(' ');

const ADVICE = /^(?:hint: .*|Please make sure you have the correct access rights|and the repository exists\.)$/;

/** A missing program and a missing folder look the same. */
function explainSpawnError(error: Error, cwd: string): string {
  if (!existsSync(cwd)) return `there is no folder ${cwd}`;
  return 'code' in error && error.code === 'ENOENT' ? 'git is not installed, or not in PATH' : error.message;
}
