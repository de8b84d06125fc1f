/*
 * Joins as somebody at a terminal meets them: the built command, real scripts, real signals. Scripts wait at gates, which are
 * files, so that it is known what is under way when something happens.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { WorkerResult } from '../src/core/joins/join-results.ts';
import { endMarked } from '../src/process/end.ts';
import { findMarkedProcesses } from '../src/process/marker.ts';
import { type StartedCommand, startCommand, until } from './built-command.ts';

let home: string;
let id: string;
let started: StartedCommand[];

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-joins-')));
  // Other tests run at the same time, and a marker begins with the id.
  id = `joins-${home.slice(-6)}`;
  started = [];
});

afterEach(async () => {
  for (const each of started) each.kill();
  await endMarked(`${id}/`, { graceMs: 0 });
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

function command(...args: readonly string[]): StartedCommand {
  const child = startCommand(args, home);
  started.push(child);
  return child;
}

function run(files: Readonly<Record<string, string>>, ...options: readonly string[]): StartedCommand {
  const folder = join(home, 'workflow');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return command('run', folder, '--run-id', id, ...options);
}

const resume = (...options: readonly string[]): StartedCommand => command('resume', id, ...options);

const open = (gate: string): void => writeFileSync(join(home, gate), '');
const effects = (): readonly string[] =>
  existsSync(join(home, 'effects')) ? readFileSync(join(home, 'effects'), 'utf8').trim().split('\n') : [];

/** The results that a join handed over, as `MERGE.sh` or `LATE.sh` left them. */
const results = (): readonly WorkerResult[] => JSON.parse(readFileSync(join(home, 'results.json'), 'utf8'));

/** Leaves the results of the join, and ends with a word. */
const ending = (word: string): string => `cp "$RAYMOND_RESULTS_FILE" results.json; echo "<result>${word}</result>"`;
/** A worker that leaves a line, waits at the gate of its item and gives its item back. */
const GATED = `echo "begin $item" >> effects
until [ -e "gate-$item" ]; do sleep 0.02; done
echo "<result>did $item</result>"`;
const WORKFLOW = {
  'W.sh': GATED,
  'MERGE.sh': ending('merged'),
  'LATE.sh': ending('late'),
};
const forks = (tail: string): string => `echo '<fork item="a">W</fork><fork item="b">W</fork>${tail}'`;

describe('a run that is killed while an agent joins its workers', { timeout: 120_000 }, () => {
  test('continues with the results of workers that ended meanwhile, and nothing runs twice', async () => {
    const first = run({ ...WORKFLOW, 'START.sh': forks('<join>MERGE</join>') });
    await until(() => effects().length === 2, 'both workers');
    await first.kill();
    open('gate-a');
    open('gate-b');
    expect(await resume().ended).toMatchObject({ code: 0, stdout: 'merged\n' });
    expect(results().map(({ agent, result }) => [agent, result])).toStrictEqual([
      ['main_w1', 'did a'],
      ['main_w2', 'did b'],
    ]);
    expect(effects().toSorted()).toStrictEqual(['begin a', 'begin b']);
  });

  test('keeps the results that were there before', async () => {
    const first = run({ ...WORKFLOW, 'START.sh': forks('<join>MERGE</join>') });
    await until(() => effects().length === 2, 'both workers');
    open('gate-a');
    const ended = (): boolean =>
      readFileSync(join(home, '.raymond/runs', id, 'journal.jsonl'), 'utf8').includes('"did a"');
    await until(ended, 'the end of the first worker');
    await first.kill();
    open('gate-b');
    expect((await resume().ended).code).toBe(0);
    expect(results().map(({ result }) => result)).toStrictEqual(['did a', 'did b']);
  });

  test('gives up at once if the time passed while nobody looked', async () => {
    const tail = '<join timeout="0.5" timeout_next="LATE" cancel="true">MERGE</join>';
    const first = run({ ...WORKFLOW, 'START.sh': forks(tail) });
    await until(() => effects().length === 2, 'both workers');
    await first.kill();
    expect(await resume().ended).toMatchObject({ code: 0, stdout: 'late\n' });
    expect(results().map(({ status }) => status)).toStrictEqual(['cancelled', 'cancelled']);
    expect(await findMarkedProcesses(`${id}/`)).toStrictEqual([]);
  });

  test('ends the turns that were being ended, and says so', async () => {
    const stubborn =
      'trap "" TERM INT HUP; echo "begin $item" >> effects; until [ -e gate-never ]; do sleep 0.02; done';
    const first = run({
      ...WORKFLOW,
      'S.sh': stubborn,
      'START.sh': `echo '<fork item="a">W</fork><fork item="s">S</fork><join wait="any" cancel="true">MERGE</join>'`,
    });
    await until(() => effects().length === 2, 'both workers');
    open('gate-a');
    const isCancelling = (): boolean =>
      readFileSync(join(home, '.raymond/runs', id, 'journal.jsonl'), 'utf8').includes('"cancelling"');
    await until(isCancelling, 'the cancelling');
    await first.kill();
    const { code, stderr } = await resume().ended;
    expect(code).toBe(0);
    expect(stderr).toContain('[main_s2 item=s] cancelled by the join of main');
    expect(results().map(({ status }) => status)).toStrictEqual(['ended', 'cancelled']);
    expect(await findMarkedProcesses(`${id}/`)).toStrictEqual([]);
  });
});

test('a fan-out of a hundred with ten failures is completed, and everything is told', {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await run({
    'START.sh': `seq 100 > items.txt; echo '<fork-each in="items.txt">W</fork-each><join>MERGE</join>'`,
    'W.sh':
      'if [ $((item % 10)) = 0 ]; then echo "no luck with $item" >&2; exit 3; fi; echo "<result>did $item</result>"',
    'MERGE.sh': ending('merged'),
  }).ended;
  expect([code, stdout]).toStrictEqual([0, 'merged\n']);
  expect(results().map(({ variables }) => variables.item)).toStrictEqual(
    Array.from({ length: 100 }, (_, index) => String(index + 1)),
  );
  const failed = results().filter(({ status }) => status === 'failed');
  expect(failed.map(({ variables }) => variables.item)).toStrictEqual(
    Array.from({ length: 10 }, (_, index) => String(10 * (index + 1))),
  );
  expect(failed[0]?.error).toContain('no luck with 10');
  expect(stderr).toContain('joined 100 workers (90 ended, 10 failed); continues in MERGE.sh');
  expect(stderr).toContain(
    'Joined despite a failure: [main_w10 item=10] failed: W.sh: the script ended with exit code 3',
  );
  expect(await resume('--retry').ended).toMatchObject({ code: 0 });
  const shown = await command('status', id).ended;
  expect(shown.stdout).toContain('Every agent has ended, 10 without a result, and a join took note of that.');
  expect(readdirSync(join(home, '.raymond/tasks', id, 'shared/results'))).toHaveLength(1);
});

test('workers that are not needed any more are ended with their processes before the agent continues', {
  timeout: 120_000,
}, async () => {
  const running = run({
    'START.sh': `echo '<fork item="a">W</fork><fork item="deep">DEEP</fork><join wait="any" cancel="true">MERGE</join>'`,
    'W.sh': GATED,
    'DEEP.sh': 'echo "begin $item" >> effects; sleep 1000 & wait',
    'MERGE.sh': ending('merged'),
  });
  await until(() => effects().length === 2, 'both workers');
  open('gate-a');
  expect(await running.ended).toMatchObject({ code: 0, stdout: 'merged\n' });
  expect(results().map(({ status }) => status)).toStrictEqual(['ended', 'cancelled']);
  expect(await findMarkedProcesses(`${id}/`)).toStrictEqual([]);
});
