import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DebugFiles, TransitionsLog } from '../../src/render/debug-files.ts';
import { RunDriver } from '../core/run-driver.ts';

/** A folder, and the debug files of a run whose turns have all left these files. */
function keep(files: Readonly<Record<string, string>>): { folder: string; warnings: string[] } {
  const root = mkdtempSync(join(tmpdir(), 'raymond-debug-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const folder = join(root, 'debug');
  const warnings: string[] = [];
  const driver = new RunDriver({ files: ['START.md', 'CHECK.sh'] });
  driver.answer('<goto>CHECK</goto>', '<result>r</result>');
  const debug = new DebugFiles({ folder, turnFolder: () => root }, 0, (warning) => warnings.push(warning));
  debug.write(driver.events);
  return { folder, warnings };
}

test('the output of a turn is kept under a readable name, and its stderr beside it', () => {
  const { folder, warnings } = keep({ stdout: 'out', stderr: 'odd' });
  expect(readdirSync(folder).toSorted()).toStrictEqual([
    'index.jsonl',
    'main_CHECK_002.stderr',
    'main_CHECK_002.txt',
    'main_START_001.jsonl',
    'main_START_001.stderr',
    'transitions.log',
  ]);
  expect(readFileSync(join(folder, 'main_CHECK_002.stderr'), 'utf8')).toBe('odd');
  expect(warnings).toStrictEqual([]);
});

test.each([
  [
    'an empty stderr',
    { stdout: 'out', stderr: '' },
    ['index.jsonl', 'main_CHECK_002.txt', 'main_START_001.jsonl', 'transitions.log'],
  ],
  ['a turn that left nothing', {}, ['transitions.log']],
])('%s gets no file', (_, files, names) => {
  const { folder, warnings } = keep(files);
  expect(readdirSync(folder).toSorted()).toStrictEqual(names);
  expect(warnings).toStrictEqual([]);
});

test('the index says of each file which turn it is from, and when that was', () => {
  const { folder } = keep({ stdout: 'out', stderr: 'odd' });
  const lines = readFileSync(join(folder, 'index.jsonl'), 'utf8').trimEnd().split('\n');
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries.map(({ file, agent, state, turn }) => [file, agent, state, turn])).toStrictEqual([
    ['main_START_001.jsonl', 'main', 'START.md', 1],
    ['main_START_001.stderr', 'main', 'START.md', 1],
    ['main_CHECK_002.txt', 'main', 'CHECK.sh', 2],
    ['main_CHECK_002.stderr', 'main', 'CHECK.sh', 2],
  ]);
  expect(entries[0]).toStrictEqual({
    ...entries[0],
    started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    ended_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    session_id: expect.any(String),
    cost_usd: expect.any(Number),
    failure: null,
  });
});

test('each detail of an entry has one line, also where a script said several before a guard led elsewhere', () => {
  const driver = new RunDriver({
    files: ['START.sh', 'FIX.md'],
    rules: { 'START.sh': { guards: { retry: null, on: { error: 'FIX.md' }, maxVisitsPer: 'agent', stuck: null } } },
  });
  driver.answer({ fail: { kind: 'script', message: 'the script ended with exit code 4\nboom\n\nbang' } });
  const log = new TransitionsLog(0);
  const entries = driver.events.flatMap((event) => log.formatEntry(event) ?? []);
  expect(entries.join('')).toContain(
    '\n  decided_by: guard error: START.sh: the script ended with exit code 4 / boom / bang\n',
  );
});
