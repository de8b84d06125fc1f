import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const PROJECT = join(import.meta.dirname, '..');
const README = readFileSync(join(PROJECT, 'README.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...README.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text ?? '');

describe('the README', () => {
  test('names the test command that CI runs', () => {
    expect(blocks('sh')[1]).toBe('npm ci && npm test\n');
    expect(readFileSync(join(PROJECT, '.ci', 'run'), 'utf8')).toContain('npm ci && npm test');
  });

  test('has a first command whose example runs without an account', async () => {
    const command = blocks('sh')[0]?.trim().split(' && ') ?? [];
    expect(command.slice(0, 2)).toStrictEqual(['npm ci', 'npm run build']);
    expect(command[2]).toBe('node dist/raymond.js demo');
    const home = mkdtempSync(join(tmpdir(), 'raymond-readme-'));
    try {
      const env = { ...process.env, RAYMOND_REPLAY: 'fast', XDG_CONFIG_HOME: join(home, 'config') };
      const out = await new Promise<string>((done, fail) => {
        execFile(process.execPath, [join(PROJECT, 'dist/raymond.js'), 'demo'], { cwd: home, env }, (error, stdout) =>
          error ? fail(error) : done(stdout),
        );
      });
      expect(out).toContain('Try it: node roman.mjs 2026');
      expect(readdirSync(join(home, 'raymond-demo'))).toContain('roman.mjs');
    } finally {
      rmSync(home, { recursive: true, force: true, maxRetries: 5 });
    }
  });

  test('shows the first workflow exactly as in its folder', () => {
    const shown = [...blocks('markdown'), ...blocks('bash')];
    const files = ['START.md', 'WRITE.md', 'CHECK.sh'].map((file) => join(PROJECT, 'examples', 'hello', file));
    expect(shown).toHaveLength(files.length);
    files.forEach((file, index) => {
      expect(shown[index]).toBe(readFileSync(file, 'utf8'));
    });
  });

  test('links to pages that exist', () => {
    const links = [...README.matchAll(/\]\(([^)]+)\)/g)]
      .map(([, to]) => to ?? '')
      .filter((to) => !to.startsWith('https:'));
    expect(links.filter((to) => !existsSync(join(PROJECT, to.replace(/#.*/, ''))))).toStrictEqual([]);
  });
});
