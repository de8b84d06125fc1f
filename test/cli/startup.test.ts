import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

const COMMAND = join(import.meta.dirname, '../../dist/raymond.js');

/** Runs commands in a home of their own, and looks at what they keep there. */
function newHome() {
  const home = mkdtempSync(join(tmpdir(), 'raymond-home-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, 'workflow'));
  writeFileSync(join(home, 'workflow/START.sh'), "echo '<result>done</result>'\n");
  const cache = join(home, '.cache/raymond');
  const list = (): readonly string[] => (existsSync(cache) ? readdirSync(cache).sort() : []);
  return {
    raymond: (words: readonly string[], more: NodeJS.ProcessEnv = {}): string => {
      const env = { PATH: process.env.PATH, HOME: home, ...more };
      return execFileSync(process.execPath, [COMMAND, ...words], { cwd: home, env, encoding: 'utf8', stdio: 'pipe' });
    },
    path: (file: string): string => join(cache, file),
    list,
    times: (): readonly number[] => list().map((file) => statSync(join(cache, file)).mtimeMs),
  };
}

describe('compiled code', () => {
  test('is kept among the caches of the user, and used from then on, also by a run, which changes flags of V8', () => {
    const { raymond, list, times, path } = newHome();
    expect(raymond(['--version'])).toMatch(/^\d/);
    raymond(['run', 'workflow']);
    expect(list()).toStrictEqual([
      expect.stringMatching(/^main-/),
      expect.stringMatching(/^program-/),
      expect.stringMatching(/^run-/),
      expect.stringMatching(/^runs-/),
      expect.stringMatching(/^workflow-/),
    ]);
    expect([path('..'), path(list()[0] ?? '')].map((each) => statSync(each).mode & 0o077)).toStrictEqual([0, 0]);
    const before = times();
    raymond(['run', 'workflow']);
    raymond(['--version']);
    // What cannot be used is made again.
    expect(times()).toStrictEqual(before);
  });

  test('that is damaged, cut off or made of another file is not used, and made again', () => {
    const { raymond, list, path } = newHome();
    const version = raymond(['--version']);
    const file = path(list().find((name) => name.startsWith('program-')) ?? '');
    const whole = readFileSync(file);
    const flipped = Buffer.from(whole);
    flipped[whole.length >> 1] = ~(whole[whole.length >> 1] ?? 0);
    const other = Buffer.from(whole);
    other[0] = ~(whole[0] ?? 0);
    for (const bytes of [flipped, whole.subarray(0, 5_000), Buffer.alloc(0), Buffer.alloc(whole.length), other]) {
      writeFileSync(file, bytes);
      expect(raymond(['--version'])).toBe(version);
      expect(readFileSync(file).equals(bytes)).toBe(false);
    }
  });

  test.runIf(process.getuid?.() === 0)('of another user is not used', () => {
    const { raymond, list, path } = newHome();
    raymond(['--version']);
    for (const file of list()) chownSync(path(file), 65_534, 65_534);
    raymond(['--version']);
    expect(list().map((file) => statSync(path(file)).uid)).toStrictEqual(list().map(() => 0));
  });

  test.runIf(process.getuid?.() === 0)('is neither used nor kept in a folder of another user', () => {
    const { raymond, list, times, path } = newHome();
    raymond(['--version']);
    chownSync(path('.'), 65_534, 65_534);
    writeFileSync(path(list()[0] ?? ''), '');
    const before = times();
    raymond(['--version']);
    expect(times()).toStrictEqual(before);
  });

  test('is neither used nor kept in a folder that others can write to', () => {
    const { raymond, list, path } = newHome();
    mkdirSync(path('.'), { recursive: true });
    chmodSync(path('.'), 0o777);
    raymond(['--version']);
    expect(list()).toStrictEqual([]);
  });

  test('is done without where there is no home, or none that can be written to', () => {
    const { raymond, path } = newHome();
    const version = raymond(['--version']);
    for (const HOME of ['', 'relative', path('missing/home'), '/dev/null', '/proc'])
      expect(raymond(['--version'], { HOME })).toBe(version);
    expect([path('../../relative'), path('missing')].filter((each) => existsSync(each))).toStrictEqual([]);
  });

  test('of other versions goes when it was not used for a month, or when it is too much', () => {
    const { raymond, list, path } = newHome();
    raymond(['--version']);
    const used = list();
    const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
    const add = (name: string, days: number): void => {
      writeFileSync(path(name), '');
      utimesSync(path(name), daysAgo(days), daysAgo(days));
    };
    for (let at = 0; at < 260; at += 1) add(`chunk${at}-abc-v22.1.0-x64`, 1 + at / 100);
    add('left-abc-v22.1.0-x64.4711', 31);
    add('notes', 31);
    // Used every now and then, and therefore kept.
    for (const name of used) utimesSync(path(name), daysAgo(29), daysAgo(29));
    raymond(['--version']);
    expect(list()).toHaveLength(used.length + 262);
    raymond(['list']);
    const left = list();
    expect(left).toHaveLength(251);
    expect(left).toStrictEqual(expect.arrayContaining([...used, 'notes', 'chunk0-abc-v22.1.0-x64']));
    expect(left).not.toContain('chunk259-abc-v22.1.0-x64');
    expect(left).not.toContain('left-abc-v22.1.0-x64.4711');
  });

  test('is kept in another folder, or not at all, as Node.js lets one say', () => {
    const { raymond, list, path } = newHome();
    raymond(['--version'], { NODE_DISABLE_COMPILE_CACHE: '1' });
    raymond(['--version'], { NODE_COMPILE_CACHE: path('../../elsewhere') });
    expect(list()).toStrictEqual([]);
    expect(existsSync(path('../../elsewhere/raymond'))).toBe(true);
  });

  test('that was kept can load packages', () => {
    const { raymond } = newHome();
    const drawn = [1, 2].map(() => raymond(['graph', 'workflow', '--format', 'svg']));
    expect(drawn[1]).toBe(drawn[0]);
    expect(drawn[1]).toContain('<svg');
  });
});

test('raymond run of scripts loads few packages: the others take longer to load than it runs', () => {
  const packages = new Set<string>();
  const files = new Set(
    ['cli/commands/run.ts', 'app/start.ts'].map((file) => join(import.meta.dirname, '../../src', file)),
  );
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
