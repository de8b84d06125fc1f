import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { readGitStatus } from '../progress.ts';
import type { Environment } from '../turn-context.ts';

/** The files of a project, and of each folder around it, that Claude Code reads when it starts. */
const MEMORY_FILES = ['CLAUDE.md', 'CLAUDE.local.md', '.claude/CLAUDE.md'];
const SETTINGS_FILES = ['.mcp.json', '.claude/settings.json', '.claude/settings.local.json'];
const FOLDERS = ['rules', 'agents', 'commands', 'skills', 'output-styles'];
/** What skills bring along for their scripts, and can be large. */
const UNREAD_FOLDERS = ['node_modules', '.git', '.venv'];
/** A memory file can import others, by a path behind `@`. */
const IMPORT = /(?:^|\s)@([^\s`]+)/g;
const MAX_IMPORTS_DEEP = 5;
/** Where git needs longer, nobody can know in time. */
const GIT_TIMEOUT_MS = 1_000;

/**
 * What Claude Code reads when it starts and tells the model, as a text that changes with it: the state of the repository, memory,
 * settings, the date. Null if that cannot be found out. Two processes that have read the same know the same.
 */
export async function readStartSnapshot(
  cwd: string,
  env: Environment,
  configDir: string,
  now: number,
): Promise<string | null> {
  const git = await readGitStatus(cwd, env, GIT_TIMEOUT_MS);
  if (git === null) return null;
  try {
    return [git, new Date(now).toDateString(), ...(await listFiles(cwd, configDir))].join('\n');
  } catch {
    // A file has gone while it was read.
    return null;
  }
}

async function listFiles(cwd: string, configDir: string): Promise<ReadonlySet<string>> {
  const lines = new Set<string>();
  for (const folder of foldersAround(cwd)) {
    for (const name of MEMORY_FILES) await addMemory(lines, join(folder, name));
    for (const name of SETTINGS_FILES) await addFile(lines, join(folder, name));
    for (const name of FOLDERS) await addFolder(lines, join(folder, '.claude', name));
  }
  await addMemory(lines, join(configDir, 'CLAUDE.md'));
  await addFile(lines, join(configDir, 'settings.json'));
  for (const name of FOLDERS) await addFolder(lines, join(configDir, name));
  return lines;
}

/** A folder and all around it. */
export function foldersAround(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAround(parent)];
}

/** Adds a file; false if it is not there. */
async function addFile(lines: Set<string>, path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null);
  if (stats === null || !stats.isFile()) return false;
  lines.add(`${path} ${stats.mtimeMs} ${stats.size}`);
  return true;
}

async function addMemory(lines: Set<string>, path: string, depth = 0): Promise<void> {
  const known = lines.size;
  // A file that is there already has been followed.
  if (depth > MAX_IMPORTS_DEEP || !(await addFile(lines, path)) || lines.size === known) return;
  for (const [, named = ''] of (await readFile(path, 'utf8')).matchAll(IMPORT))
    await addMemory(lines, resolve(dirname(path), named.replace(/^~(?=\/)/, homedir())), depth + 1);
}

/** Adds all files below a folder that Claude Code may read when it starts. */
async function addFolder(lines: Set<string>, folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      if (!UNREAD_FOLDERS.includes(entry.name)) await addFolder(lines, path);
    } else await addFile(lines, path);
  }
}
