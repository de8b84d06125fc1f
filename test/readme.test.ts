import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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
    const [program, ...args] = command[2]?.split(' ') ?? [];
    expect([program, args[0]]).toStrictEqual(['node', 'dist/cli/main.js']);
    const home = mkdtempSync(join(tmpdir(), 'raymond-readme-'));
    try {
      cpSync(join(PROJECT, 'examples'), join(home, 'examples'), { recursive: true });
      const cli = join(PROJECT, args[0] ?? '');
      const out = await new Promise<string>((done, fail) => {
        execFile(process.execPath, [cli, ...args.slice(1)], { cwd: home }, (error, stdout) =>
          error ? fail(error) : done(stdout),
        );
      });
      expect(out).toMatch(/^\d+ files of prose and code in all\n/);
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  test('shows the first workflow as it is in its folder', () => {
    const shown = [...blocks('markdown'), ...blocks('bash')];
    const files = ['START.md', 'WRITE.md', 'CHECK.sh'].map((file) => join(PROJECT, 'examples', 'hello', file));
    expect(shown).toHaveLength(files.length);
    files.forEach((file, index) => {
      expect(readFileSync(file, 'utf8')).toContain(shown[index]?.trim());
    });
  });

  test('links to pages that exist', () => {
    const links = [...README.matchAll(/\]\(([^)]+)\)/g)].map(([, to]) => to ?? '');
    expect(links.filter((to) => !existsSync(join(PROJECT, to)))).toStrictEqual([]);
  });
});
