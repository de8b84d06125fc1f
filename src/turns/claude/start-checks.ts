import { readFileSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { Environment } from '../../process/command.ts';
import { readGitStatus } from '../progress.ts';

/** The files of a project, and of each folder around it, that Claude Code reads when it starts. */
const MEMORY_FILES = ['CLAUDE.md', 'CLAUDE.local.md', '.claude/CLAUDE.md'];
const SETTINGS_FILES = ['.mcp.json', '.claude/settings.json', '.claude/settings.local.json'];
const FOLDERS = ['rules', 'agents', 'commands', 'skills', 'output-styles'];
/** Folders that skills bring for their scripts, which can be large. */
const UNREAD_FOLDERS = ['node_modules', '.git', '.venv'];
/** A memory file can import others, by a path behind `@`. */
const IMPORT = /(?:^|\s)@([^\s`]+)/g;
const MAX_IMPORTS_DEEP = 5;
/** Where git needs longer, nobody can know in time. */
const GIT_TIMEOUT_MS = 1_000;

/**
 * Reads what Claude Code reads at its start and tells the model, as a text that changes with it: the state of the repository, memory,
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

/**
 * True if Claude Code can be started before its turn: hooks would run in vain, or before the turn that they are for, and servers at
 * the same time as those of the turn that runs.
 */
export const isSafeEarlyStart = async (cwd: string, configDir: string): Promise<boolean> =>
  !hasSessionHooks(cwd, configDir) && !(await hasLocalMcpServers(cwd, configDir));

/** Where the settings of an organization are, which go before all others. */
const MANAGED_SETTINGS = [
  '/etc/claude-code/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
];
/** Hooks that Claude Code runs although it gets no prompt. */
const SESSION_HOOKS = /"Session(?:Start|End)"/;
const INSTALL_PATH = /"installPath"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** True if the settings of Claude Code for a folder, or plugins, have hooks that run at the start or the end of a session. */
function hasSessionHooks(cwd: string, configDir: string): boolean {
  const pluginFiles = readPluginFolders(configDir).flatMap((folder) =>
    ['hooks/hooks.json', '.claude-plugin/plugin.json'].map((name) => join(folder, name)),
  );
  return [...readSettings(cwd, configDir), ...pluginFiles.map(readTextSync)].some((text) => SESSION_HOOKS.test(text));
}

/** Reads the files of settings that Claude Code has in a folder: those of the project, of the user and of an organization. */
export function readSettings(cwd: string, configDir: string): readonly string[] {
  const project = foldersAround(cwd).flatMap((folder) =>
    ['settings.json', 'settings.local.json'].map((name) => join(folder, '.claude', name)),
  );
  return [...project, join(configDir, 'settings.json'), ...MANAGED_SETTINGS].map(readTextSync);
}

/** The folders of the plugins of Claude Code that are installed. */
function readPluginFolders(configDir: string): readonly string[] {
  const named = readTextSync(join(configDir, 'plugins', 'installed_plugins.json')).matchAll(INSTALL_PATH);
  return [...named].map(([, path = '""']) => String(JSON.parse(path)));
}

function readTextSync(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Where an organization names servers for all its users. */
const MANAGED_SERVERS = [
  '/etc/claude-code/managed-mcp.json',
  '/Library/Application Support/ClaudeCode/managed-mcp.json',
];
/** A server that Claude Code starts itself has a command; any other has an address. */
const COMMAND = /"command"\s*:/;

/** True if Claude Code starts MCP servers on this machine when it starts in a folder: those of the project, of the user and of plugins. */
export async function hasLocalMcpServers(cwd: string, configDir: string): Promise<boolean> {
  const folders = foldersAround(cwd);
  const plugins = readPluginFolders(configDir);
  const files = [
    ...[...folders, ...plugins].map((folder) => join(folder, '.mcp.json')),
    ...plugins.map((folder) => join(folder, '.claude-plugin/plugin.json')),
    ...MANAGED_SERVERS,
  ];
  for (const file of files) if (COMMAND.test(await readText(file))) return true;
  // It is beside the folder of the settings, or in it if the user has chosen that folder.
  for (const folder of [configDir, dirname(configDir)])
    if (hasUserServers(await readText(join(folder, '.claude.json')), folders)) return true;
  return false;
}

/** True if the settings of a user name servers, for all folders or for one of these. */
function hasUserServers(text: string, folders: readonly string[]): boolean {
  if (!text.includes('"mcpServers"')) return false;
  try {
    const { mcpServers, projects } = JSON.parse(text) as { mcpServers?: unknown; projects?: Record<string, unknown> };
    const own = folders.map((folder) => (projects?.[folder] as { mcpServers?: unknown } | undefined)?.mcpServers);
    return COMMAND.test(JSON.stringify([mcpServers, ...own]));
  } catch {
    // Claude Code cannot read it either.
    return false;
  }
}

const readText = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
