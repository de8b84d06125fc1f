import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { EXIT, RaymondError } from '../../errors.ts';
import { firstLine } from '../../language/text/text.ts';
import { execProgram } from '../../process/exec-program.ts';

/** A version of Claude Code, such as 2.1.325. */
export type ClaudeVersion = readonly [major: number, minor: number, patch: number];

/** The oldest version whose sessions, failures and costs were measured. */
const OLDEST_SUPPORTED: ClaudeVersion = [2, 1, 197];

/** A Claude Code that can be used. */
export interface ClaudeCode {
  readonly path: string;
  readonly version: ClaudeVersion;
}

/** Long, because a machine that has just started is slow. */
const VERSION_TIMEOUT_MS = 15_000;
const INSTALL_HINT = 'Install it (https://code.claude.com/docs) or name it with --claude PATH.';

/** Finds the version in the output of `claude --version` ("2.1.325 (Claude Code)"), or in an event. */
export function parseClaudeVersion(text: string): ClaudeVersion | null {
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  return found === null ? null : [Number(found[1]), Number(found[2]), Number(found[3])];
}

/** A version as text: `2.1.325`. */
export const formatClaudeVersion = (version: ClaudeVersion): string => version.join('.');

/** Checks that a version is at least another one. */
export function isAtLeast(version: ClaudeVersion, other: ClaudeVersion): boolean {
  for (const [index, part] of version.entries()) {
    const difference = part - (other[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Finds Claude Code, at the requested path or on the PATH, and checks that its version is supported. */
export async function findClaude(
  requested: string | null,
  env: NodeJS.ProcessEnv,
  timeoutMs = VERSION_TIMEOUT_MS,
): Promise<ClaudeCode> {
  const path = requested === null ? await findOnPath(env) : await findRequested(requested, env);
  const reply = await readVersionText(path, env, timeoutMs);
  const version = parseClaudeVersion(reply);
  if (version === null) {
    throw claudeError(
      `${path} does not seem to be Claude Code: it calls itself "${firstLine(reply).slice(0, MAX_QUOTE_CHARS)}".`,
      INSTALL_HINT,
    );
  }
  if (!isAtLeast(version, OLDEST_SUPPORTED)) {
    throw claudeError(
      `${path} is Claude Code ${formatClaudeVersion(version)}; Raymond needs ${formatClaudeVersion(OLDEST_SUPPORTED)} or newer.`,
      'Update it with `claude update`, or name a newer one with --claude PATH.',
    );
  }
  return { path, version };
}

async function findRequested(requested: string, env: NodeJS.ProcessEnv): Promise<string> {
  const isName = !isAbsolute(requested) && !/[\\/]/.test(requested);
  const found = isName
    ? await searchPath(requested, env)
    : (await isProgram(resolve(requested)))
      ? resolve(requested)
      : null;
  if (found !== null) return found;
  const exists = !isName && existsSync(resolve(requested));
  const message = exists
    ? `${requested} is not a program that can be run.`
    : `There is no Claude Code at ${requested}.`;
  throw claudeError(message, 'Check the path given with --claude.');
}

async function findOnPath(env: NodeJS.ProcessEnv): Promise<string> {
  const found = await searchPath('claude', env);
  if (found === null) throw claudeError('Claude Code was not found: there is no `claude` on the PATH.', INSTALL_HINT);
  return found;
}

async function searchPath(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const extensions = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter)) {
    if (folder === '') continue;
    for (const extension of extensions) {
      const path = resolve(join(folder, name + extension));
      if (await isProgram(path)) return path;
    }
  }
  return null;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

async function readVersionText(path: string, env: NodeJS.ProcessEnv, timeoutMs: number): Promise<string> {
  const { stdout, stderr, exitCode, timedOut, spawnError } = await execProgram(path, ['--version'], { env, timeoutMs });
  if (exitCode === 0 && !timedOut) return stdout;
  const reason = timedOut
    ? `it did not answer within ${timeoutMs / 1000} s`
    : firstLine(spawnError?.message ?? stderr) || `it ended with ${exitCode ?? 'a signal'}`;
  throw claudeError(
    `${path} --version failed: ${reason.slice(0, MAX_QUOTE_CHARS)}`,
    'Check that `claude --version` works in a terminal.',
  );
}

const MAX_QUOTE_CHARS = 200;

const claudeError = (message: string, hint: string): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint });
