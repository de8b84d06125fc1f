import { existsSync } from 'node:fs';
import { MARKER_VARIABLE } from '../process/command.ts';
import { execProgram } from '../process/exec-program.ts';
import { inheritEnvironment } from './environment.ts';
import type { Environment } from './turn-context.ts';

/** What a git command has come to: its output, or why it failed. */
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
  /** Where its repository is, if it is not to look for itself. */
  readonly variables?: Environment;
  /** Whether it is in a repository whose hooks and settings are not those of the user. */
  readonly isClone?: boolean;
}

/** A checkout of a large repository takes its time. */
const GIT_TIMEOUT_MS = 10 * 60_000;

/** What git tells the programs that it starts about the repository that it works on: here it is to look for itself. */
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

/** Programs that a repository can name and that are of no use to Raymond. */
const NO_PROGRAMS = ['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false'];

/** Runs git in a folder. Its messages are in English, so that they can be understood here. */
export function createGit(cwd: string, { env, signal, variables, isClone = false }: GitOptions): Git {
  const removed = Object.fromEntries(REPOSITORY_VARIABLES.map((name) => [name, undefined]));
  const marker = { [MARKER_VARIABLE]: env[MARKER_VARIABLE] };
  const fixed = { ...NO_QUESTIONS, ...marker, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0' };
  const gitEnv = { ...inheritEnvironment(env), ...removed, ...variables, ...fixed };
  const settings = isClone ? NO_PROGRAMS : [];
  const options = { cwd, env: gitEnv, timeoutMs: GIT_TIMEOUT_MS, ...(signal && { signal }) };
  return async (...args) => {
    const { exitCode, stdout, stderr, spawnError, timedOut } = await execProgram(
      'git',
      [...settings, ...args],
      options,
    );
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
  };
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
