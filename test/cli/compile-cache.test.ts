import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

test('keeps what Node.js compiles among the caches of the user, where Node.js can', () => {
  const home = mkdtempSync(join(tmpdir(), 'raymond-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const command = join(import.meta.dirname, '../../dist/raymond.js');
  const env = { PATH: process.env.PATH, HOME: home };
  expect(execFileSync(process.execPath, [command, '--version'], { env, encoding: 'utf8' })).toMatch(/^\d/);
  expect(existsSync(join(home, '.cache/raymond'))).toBe('enableCompileCache' in module);
});
