import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldersAround } from './start-snapshot.ts';

/** Where the settings of an organization are, which go before all others. */
const MANAGED_SETTINGS = [
  '/etc/claude-code/managed-settings.json',
  '/Library/Application Support/ClaudeCode/managed-settings.json',
];
/** Hooks that Claude Code runs although it gets no prompt. */
const SESSION_HOOKS = /"Session(?:Start|End)"/;
const INSTALL_PATH = /"installPath"\s*:\s*("(?:[^"\\]|\\.)*")/g;

/** Whether the settings of Claude Code for a folder, or plugins, have hooks that run at the start or the end of a session. */
export function hasSessionHooks(cwd: string, configDir: string): boolean {
  const settings = foldersAround(cwd).flatMap((folder) =>
    ['settings.json', 'settings.local.json'].map((name) => join(folder, '.claude', name)),
  );
  const pluginFiles = readPluginFolders(configDir).flatMap((folder) =>
    ['hooks/hooks.json', '.claude-plugin/plugin.json'].map((name) => join(folder, name)),
  );
  const files = [...settings, join(configDir, 'settings.json'), ...MANAGED_SETTINGS, ...pluginFiles];
  return files.some((file) => SESSION_HOOKS.test(readText(file)));
}

/** The folders of the plugins of Claude Code that are installed. */
export function readPluginFolders(configDir: string): readonly string[] {
  const named = readText(join(configDir, 'plugins', 'installed_plugins.json')).matchAll(INSTALL_PATH);
  return [...named].map(([, path = '""']) => String(JSON.parse(path)));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
