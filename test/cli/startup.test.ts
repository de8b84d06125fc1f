import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('keeps what Node.js compiles among the caches of the user, where Node.js can', () => {
  const home = mkdtempSync(join(tmpdir(), 'raymond-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const command = join(import.meta.dirname, '../../dist/raymond.js');
  const env = { PATH: process.env.PATH, HOME: home };
  expect(execFileSync(process.execPath, [command, '--version'], { env, encoding: 'utf8' })).toMatch(/^\d/);
  expect(existsSync(join(home, '.cache/raymond'))).toBe('enableCompileCache' in module);
});

test('raymond run of scripts loads few packages: the others take longer to load than it runs', () => {
  const packages = new Set<string>();
  const files = new Set([join(import.meta.dirname, '../../src/cli/commands/run.ts')]);
  for (const file of files) {
    const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?!type\b)(?:[^'";]* from )?'([^']+)';/gm);
    for (const [, name = ''] of imports) {
      if (name.startsWith('.')) files.add(resolve(dirname(file), name));
      else if (!name.startsWith('node:')) packages.add(name);
    }
  }
  expect(files.size).toBeGreaterThan(100);
  expect([...packages].sort()).toStrictEqual(['fast-string-width', 'fast-wrap-ansi', 'smol-toml', 'yaml']);
});
