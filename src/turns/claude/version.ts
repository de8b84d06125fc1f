import { existsSync } from 'node:fs';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { EXIT, RaymondError } from '../../errors.ts';
import { ask } from './ask.ts';

/** A version of Claude Code, such as 2.1.325. */
export type Version = readonly [major: number, minor: number, patch: number];

/** The oldest version whose sessions, failures and costs were measured. */
const OLDEST: Version = [2, 1, 197];

/** A Claude Code that was found and can be used. */
export interface ClaudeCode {
  readonly path: string;
  readonly version: Version;
}

/** A machine that has just started may take its time. */
const PATIENCE_MS = 15_000;
const INSTALL = 'Install it (https://code.claude.com/docs) or name it with --claude PATH.';

/** The version in what `claude --version` prints ("2.1.325 (Claude Code)"), or in an event. */
export function parseVersion(text: string): Version | null {
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(text);
  return found === null ? null : [Number(found[1]), Number(found[2]), Number(found[3])];
}

export const versionText = (version: Version): string => version.join('.');

/** Whether a version is at least another one. */
export function isAtLeast(version: Version, other: Version): boolean {
  for (const [index, part] of version.entries()) {
    const difference = part - (other[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

/** Finds Claude Code, at a path the user named or on the PATH, and makes sure that it is one we know how to run. */
export async function findClaude(
  named: string | null,
  env: NodeJS.ProcessEnv,
  patienceMs = PATIENCE_MS,
): Promise<ClaudeCode> {
  const path = named === null ? await onPath(env) : await atPath(named, env);
  const said = await askVersion(path, env, patienceMs);
  const version = parseVersion(said);
  if (version === null) {
    throw refusal(`${path} does not seem to be Claude Code: it calls itself "${firstLine(said)}".`, INSTALL);
  }
  if (!isAtLeast(version, OLDEST)) {
    throw refusal(
      `${path} is Claude Code ${versionText(version)}; Raymond needs ${versionText(OLDEST)} or newer.`,
      'Update it with `claude update`, or name a newer one with --claude PATH.',
    );
  }
  return { path, version };
}

async function atPath(named: string, env: NodeJS.ProcessEnv): Promise<string> {
  const isName = !isAbsolute(named) && !/[\\/]/.test(named);
  const found = isName ? await search(named, env) : (await isProgram(resolve(named))) ? resolve(named) : null;
  if (found !== null) return found;
  const isThere = !isName && existsSync(resolve(named));
  const message = isThere ? `${named} is not a program that can be run.` : `There is no Claude Code at ${named}.`;
  throw refusal(message, 'Check the path given with --claude.');
}

async function onPath(env: NodeJS.ProcessEnv): Promise<string> {
  const found = await search('claude', env);
  if (found === null) throw refusal('Claude Code was not found: there is no `claude` on the PATH.', INSTALL);
  return found;
}

async function search(name: string, env: NodeJS.ProcessEnv): Promise<string | null> {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', ''] : [''];
  for (const folder of (env.PATH ?? env.Path ?? '').split(delimiter)) {
    if (folder === '') continue;
    for (const ending of endings) {
      const path = resolve(join(folder, name + ending));
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

async function askVersion(path: string, env: NodeJS.ProcessEnv, patienceMs: number): Promise<string> {
  const said = await ask(path, env, patienceMs);
  if (said.kind === 'answered') return said.text;
  throw refusal(`${path} --version failed: ${said.why}`, 'Check that `claude --version` works in a terminal.');
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 200) ?? '';

const refusal = (message: string, hint: string): RaymondError =>
  new RaymondError(message, { exitCode: EXIT.usage, hint });
