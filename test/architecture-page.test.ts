import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const PAGE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

/** The walk of a script turn, as file names below src/. */
const WALK = sectionOf('A script turn from `argv` to the exit code')
  .split('\n')
  .flatMap((line) => line.match(/^\d+\. `([^`]+)`/)?.[1] ?? []);

describe('ARCHITECTURE.md', () => {
  test('names only files that exist', () => {
    const paths = [...PAGE.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path);
    const known = (path: string): boolean =>
      ['src', 'src/core', '.'].some((folder) => existsSync(join(ROOT, folder, path))) || /[A-Z]{2,}\.ts$/.test(path);
    expect(paths.filter((path) => !known(path))).toStrictEqual([]);
    expect(paths.length).toBeGreaterThan(60);
  });

  test('walks a script turn through at most 25 files', () => {
    expect(WALK.length).toBeGreaterThan(15);
    expect(WALK.length).toBeLessThanOrEqual(25);
    expect(new Set(WALK).size).toBe(WALK.length);
  });

  test('walks through files whose code really runs, first of all the command and last of all its report', () => {
    const called = filesCalledByOneScriptTurn();
    expect(WALK.filter((file) => !called.has(file))).toStrictEqual([]);
    expect([WALK.at(0), WALK.at(-1)]).toStrictEqual(['cli/main.ts', 'cli/reports/run-end.ts']);
  });
});

function sectionOf(title: string): string {
  const start = PAGE.indexOf(`## ${title}\n`);
  return PAGE.slice(start, PAGE.indexOf('\n## ', start + 1));
}

/** Runs a workflow of one script with the compiled modules; the engine records which functions were called. */
function filesCalledByOneScriptTurn(): ReadonlySet<string> {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-walk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(folder, 'wf'));
  writeFileSync(join(folder, 'wf', 'START.sh'), 'echo "<result>ok</result>"\n');
  const coverage = join(folder, 'coverage');
  const env = { ...process.env, NODE_V8_COVERAGE: coverage };
  execFileSync(process.execPath, [join(ROOT, 'build', 'cli', 'main.js'), 'wf'], { cwd: folder, env, stdio: 'pipe' });
  return new Set(readdirSync(coverage).flatMap((file) => calledFiles(readFileSync(join(coverage, file), 'utf8'))));
}

interface CoverageReport {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly { readonly isBlockCoverage: boolean; readonly ranges: readonly { count: number }[] }[];
  }[];
}

/** The files of which a function was called; the first one of each is the module itself, which runs when it is loaded. */
function calledFiles(report: string): readonly string[] {
  return (JSON.parse(report) as CoverageReport).result.flatMap(({ url, functions }) => {
    const [, file] = /\/build\/(.+)\.js$/.exec(url) ?? [];
    const isCalled = functions.slice(1).some(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
    return file !== undefined && isCalled ? [`${file}.ts`] : [];
  });
}
