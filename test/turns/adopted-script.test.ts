import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Clock, SYSTEM_CLOCK } from '../../src/process/clock.ts';
import { VirtualTime } from '../../src/testing/virtual-time.ts';
import type { Backend } from '../../src/turns/backend.ts';
import type { TurnContext } from '../../src/turns/turn-context.ts';
import { createTurnRunner } from '../../src/turns/turn-runner.ts';
import { newTurnContext } from './turn-context.ts';
import { newScriptTurn } from './turns.ts';

const HOUR_MS = 3_600_000;

/** A script that started two hours ago and, with an exit code, ended an hour ago, while no Raymond was there to see it. */
function leftBehind(overrides: Partial<TurnContext> = {}, exit = '0', clock: Clock = SYSTEM_CLOCK) {
  const dir = mkdtempSync(join(tmpdir(), 'raymond-adopted-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }));
  const endedAt = Date.now() - HOUR_MS;
  const files = { started: `1 0\n${exit}\n`, stdout: '<result>r</result>\n', stderr: '' };
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(dir, name), text);
    utimesSync(join(dir, name), endedAt / 1000, endedAt / 1000);
  }
  const startedAt = clock.now() - 2 * HOUR_MS;
  const turn = newScriptTurn(dir, {
    record: { number: 1, prompt: { kind: 'state' }, session: null, startedAt, capMicros: null },
  });
  const backend: Backend = { prepare: async () => [], take: () => Promise.reject(new Error('no prompts here')) };
  const runner = createTurnRunner(newTurnContext(dir, { clock, ...overrides }), backend);
  return { dir, turn, endedAt, take: () => runner.take(turn) };
}

test('the working time of a script that ended unobserved does not include the time until it was found', async () => {
  const { endedAt, take } = leftBehind();
  expect(await take()).toMatchObject({ kind: 'answered', at: endedAt });
});

test('the same applies to one that failed', async () => {
  const { endedAt, take } = leftBehind({}, '3');
  expect(await take()).toMatchObject({ kind: 'failed', at: endedAt, failure: { kind: 'script' } });
});

test('its end is in the time of the run, if that is ahead of the machine', async () => {
  const { endedAt, take } = leftBehind({}, '0', new VirtualTime(5 * HOUR_MS));
  expect(await take()).toMatchObject({ kind: 'answered', at: endedAt + 5 * HOUR_MS });
});

test('one that never started took no time', async () => {
  const { dir, turn, take } = leftBehind();
  rmSync(dir, { recursive: true });
  mkdirSync(dir);
  expect(await take()).toMatchObject({ kind: 'failed', at: turn.record?.startedAt, failure: { kind: 'lost' } });
});

test.each([
  [false, 'interrupted'],
  [true, 'lost'],
])('one that was killed unobserved runs again only with --retry (%s)', async (retry, kind) => {
  const { dir, take } = leftBehind({ retry });
  writeFileSync(join(dir, 'started'), '1 0\n');
  expect(await take()).toMatchObject({ kind: 'failed', failure: { kind } });
});

test('one that is killed after it was found running does not run again, even with --retry', async () => {
  let kill = (): void => {};
  const { dir, turn, take } = leftBehind({ retry: true, onActivity: () => kill() });
  writeFileSync(join(dir, 'started'), '1 0\n');
  const env = { ...process.env, RAYMOND_TURN: `r/${dir}/${turn.agent}/${turn.number}` };
  const script = spawn('sleep', ['60'], { env, stdio: 'ignore' });
  kill = () => void script.kill('SIGKILL');
  expect(await take()).toMatchObject({ kind: 'failed', failure: { kind: 'interrupted' } });
});

test.each([
  ['nothing', ''],
  ['zeros', '\0'.repeat(20)],
  ['a beginning and zeros', `<goto>NE${'\0'.repeat(20)}`],
])('one whose output is %s after a power cut has ended, but what it said is lost', async (_, stdout) => {
  const { dir, take } = leftBehind({ isDoubtful: () => true });
  writeFileSync(join(dir, 'stdout'), stdout);
  expect(await take()).toMatchObject({
    kind: 'failed',
    failure: { kind: 'interrupted', message: expect.stringContaining('what the script printed is lost') },
  });
});

test.each([
  ['what is no JSON', '{"timeoutMs": 10'],
  ['a wrong type', '{"timeoutMs":"soon","timeoutFrom":"--timeout"}'],
])('a damaged turn.json, %s, is named in a warning, and the default timeout applies', async (_, text) => {
  const warnings: string[] = [];
  const { dir, take } = leftBehind({ warn: ({ state }, message) => warnings.push(`${state}: ${message}`) });
  writeFileSync(join(dir, 'turn.json'), text);
  expect(await take()).toMatchObject({ kind: 'answered', text: '<result>r</result>\n' });
  expect(warnings).toStrictEqual([
    expect.stringMatching(/^START\.sh: .*turn\.json is damaged: .*\. The turn has the default timeout\.$/),
  ]);
});
