/** Schemas cost 40 ms to load: a run that is started must not need them, nor the types that are published, nor the page. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** Tells at the end of a process whether zod was loaded. */
const PROBE = `process.on('exit', () => require('node:fs').writeFileSync(process.env.PROBE_FILE, String('__zod_globalRegistry' in globalThis)));`;

function loadsSchemas(...args: readonly string[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-loading-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'wf'));
  writeFileSync(join(folder, 'wf/START.sh'), `echo '<ask next="START">Well?</ask>'\n`);
  writeFileSync(join(folder, 'probe.cjs'), PROBE);
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    NODE_OPTIONS: `--require=${join(folder, 'probe.cjs')}`,
    PROBE_FILE: join(folder, 'probe'),
  };
  try {
    execFileSync(process.execPath, [resolve('dist/raymond.js'), ...args], { cwd: folder, env, stdio: 'pipe' });
  } catch {
    // A run that asks exits with 2.
  }
  return readFileSync(join(folder, 'probe'), 'utf8') === 'true';
}

test.each([
  [['wf']],
  [['wf', '--events']],
  [['wf', '--log-file', 'log']],
  [['lint', 'wf', '--json']],
  [['config', '--json']],
  [['list', '--json']],
])('`raymond %j` loads no schema', (args) => {
  expect(loadsSchemas(...args)).toBe(false);
});

test('the probe knows zod', () => {
  expect(loadsSchemas('test', 'wf')).toBe(true);
});

test('the published types need no zod', () => {
  const folder = resolve('dist/types');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.d.ts'));
  expect(files).toContain('index.d.ts');
  expect(files.filter((file) => /\bzod\b/.test(readFileSync(join(folder, file), 'utf8')))).toStrictEqual([]);
});

test('the page has no zod', () => {
  expect(readFileSync(resolve('dist/page/app.js'), 'utf8')).not.toMatch(/zod/i);
});
