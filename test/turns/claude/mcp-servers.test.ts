import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { hasLocalMcpServers } from '../../../src/turns/claude/start-checks.ts';

const LOCAL = { mcpServers: { browser: { command: 'browser-server' } } };
const REMOTE = { mcpServers: { tracker: { type: 'http', url: 'https://tracker.example/mcp' } } };

test.each<[string, boolean, (root: string) => Readonly<Record<string, unknown>>]>([
  ['nothing', false, () => ({})],
  ['a server of the project', true, () => ({ 'project/.mcp.json': LOCAL })],
  ['a server of the project that is elsewhere', false, () => ({ 'project/.mcp.json': REMOTE })],
  ['a server of the user', true, () => ({ 'home/.claude.json': LOCAL })],
  ['a server of the user in a chosen folder', true, () => ({ 'home/.claude/.claude.json': LOCAL })],
  [
    'a server of the user for this project',
    true,
    (root) => ({ 'home/.claude.json': { projects: { [join(root, 'project')]: LOCAL } } }),
  ],
  [
    'a server of the user for another project',
    false,
    () => ({ 'home/.claude.json': { mcpServers: {}, projects: { '/elsewhere': LOCAL } } }),
  ],
  [
    'a server of a plugin',
    true,
    (root) => ({
      'home/.claude/plugins/installed_plugins.json': { plugins: { p: [{ installPath: join(root, 'plugin') }] } },
      'plugin/.mcp.json': LOCAL,
    }),
  ],
  ['settings that are no JSON', false, () => ({ 'home/.claude.json': '{"mcpServers"' })],
])('Claude Code with %s starts servers on this machine: %s', async (_, expected, files) => {
  const root = mkdtempSync(join(tmpdir(), 'raymond-mcp-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files(root))) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  expect(await hasLocalMcpServers(join(root, 'project/inner'), join(root, 'home/.claude'))).toBe(expected);
});
