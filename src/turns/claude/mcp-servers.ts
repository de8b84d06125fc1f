import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readPluginFolders } from './session-hooks.ts';
import { foldersAround } from './start-snapshot.ts';

/** Where an organization names servers for all its users. */
const MANAGED_SERVERS = [
  '/etc/claude-code/managed-mcp.json',
  '/Library/Application Support/ClaudeCode/managed-mcp.json',
];
/** A server that Claude Code starts itself has a command; any other has an address. */
const COMMAND = /"command"\s*:/;

/** Whether Claude Code starts MCP servers on this machine when it starts in a folder: those of the project, of the user and of plugins. */
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

/** Whether the settings of a user name servers, for all folders or for one of these. */
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
