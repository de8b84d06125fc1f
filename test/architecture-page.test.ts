import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fakePrompt } from './hostile/fake-prompt.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');

/** The walk of a script turn, and that of a prompt in an open conversation, as file names below src/. */
const WALK = readWalk('A script turn from `argv` to the exit code');
const OPEN_WALK = readWalk('A prompt in an open conversation');

/** The longest that other walks may be, by title. */
const OTHER_WALKS: readonly (readonly [title: string, files: number])[] = [
  ['A turn on another node', 16],
  ['`logs --follow` of a run in a database', 9],
  ['An HTTP answer', 8],
  ['`lint` from `argv` to the exit code', 12],
];

describe('ARCHITECTURE.md', () => {
  test('names only files that exist', () => {
    const paths = [...PAGE.matchAll(/`([\w./-]+\.ts)`/g)].map(([, path = '']) => path);
    const known = (path: string): boolean =>
      ['src', 'src/core', '.'].some((folder) => existsSync(join(ROOT, folder, path))) || /[A-Z]{2,}\.ts$/.test(path);
    expect(paths.filter((path) => !known(path))).toStrictEqual([]);
    expect(paths.length).toBeGreaterThan(60);
  });

  test('walks a script turn through at most 22 files', () => {
    expect(WALK.length).toBeGreaterThan(15);
    expect(WALK.length).toBeLessThanOrEqual(22);
    expect(new Set(WALK).size).toBe(WALK.length);
  });

  test('walks through files whose code really runs, first of all the command and last of all its report', () => {
    const called = filesCalledByOneScriptTurn();
    expect(WALK.filter((file) => !called.has(file))).toStrictEqual([]);
    expect([WALK.at(0), WALK.at(-1)]).toStrictEqual(['cli/main.ts', 'cli/reports/run-end.ts']);
  });

  test('walks a prompt in an open conversation through at most 14 files whose code really runs', () => {
    expect(OPEN_WALK.length).toBeGreaterThan(10);
    expect(OPEN_WALK.length).toBeLessThanOrEqual(14);
    const called = filesCalledByOpenConversation();
    expect(OPEN_WALK.filter((file) => !called.has(file))).toStrictEqual([]);
    expect([...called].filter((file) => file.startsWith('turns/replay/'))).toStrictEqual([]);
  });
});

test.each(OTHER_WALKS)('ARCHITECTURE.md walks %s through at most %i files', (title, files) => {
  const walk = readWalk(title);
  expect(walk.length).toBeGreaterThan(5);
  expect(walk.length).toBeLessThanOrEqual(files);
});

function readWalk(title: string): readonly string[] {
  return sectionOf(title)
    .split('\n')
    .flatMap((line) => line.match(/^\d+\. `([^`]+)`/)?.[1] ?? []);
}

function sectionOf(title: string): string {
  const start = PAGE.indexOf(`### ${title}\n`);
  return PAGE.slice(start, start + 1 + PAGE.slice(start + 1).search(/\n##/));
}

/** Runs a workflow of one script. */
const filesCalledByOneScriptTurn = (): ReadonlySet<string> =>
  filesCalledBy({ 'START.sh': 'echo "<result>ok</result>"\n' });

/** Runs a workflow of two prompts, of which the second goes to the process that has answered the first. */
function filesCalledByOpenConversation(): ReadonlySet<string> {
  const folder = newFolder();
  for (const name of ['claude.mjs', 'version']) {
    if (name === 'version') writeFileSync(join(folder, name), '2.1.325\n');
    else copyFileSync(join(ROOT, 'test', 'hostile', name), join(folder, name));
  }
  const claude = join(folder, 'claude.mjs');
  chmodSync(claude, 0o755);
  const states = { 'START.md': fakePrompt('<goto>NEXT</goto>'), 'NEXT.md': fakePrompt('<result>ok</result>') };
  const called = filesCalledBy(states, ['--claude', claude], { HOME: folder });
  const processes = readFileSync(join(folder, 'calls.jsonl'), 'utf8').match(/"RAYMOND_TURN":"[^"]*"/g) ?? [];
  expect([processes.length, new Set(processes).size]).toStrictEqual([2, 1]);
  return called;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-walk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Runs a workflow with the compiled modules; the engine records which functions were called. */
function filesCalledBy(
  states: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  also: NodeJS.ProcessEnv = {},
): ReadonlySet<string> {
  const folder = newFolder();
  mkdirSync(join(folder, 'wf'));
  for (const [name, text] of Object.entries(states)) writeFileSync(join(folder, 'wf', name), text);
  const coverage = join(folder, 'coverage');
  const env = { ...process.env, ...also, NODE_V8_COVERAGE: coverage };
  const command = [join(ROOT, 'build', 'cli', 'main.js'), 'wf', ...args];
  execFileSync(process.execPath, command, { cwd: folder, env, stdio: 'pipe' });
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
