import { describe, expect, test } from 'vitest';
import { RUN_VERSION } from '../../src/core/run/run.ts';
import { RaymondError } from '../../src/errors.ts';
import { parseRun, serializeRun } from '../../src/storage/run-schema.ts';
import { RunDriver } from '../core/run-driver.ts';

const FILES = { files: ['START.md', 'WORKER.md', 'BACK.md'] };

function refusalOf(text: string): RaymondError {
  try {
    parseRun(text, 'r.json');
  } catch (error) {
    if (error instanceof RaymondError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

/** The state file of a running run, with one value replaced. */
function changed(path: readonly (string | number)[], value: unknown): string {
  const { run } = new RunDriver(FILES).answer(
    '<fork next="START" item="x">WORKER</fork>',
    '<call return="BACK">START</call>',
  );
  const data: unknown = JSON.parse(serializeRun(run));
  const last = path.at(-1) ?? '';
  const holder = path.slice(0, -1).reduce<unknown>((at, key) => (at as Record<string | number, unknown>)[key], data);
  (holder as Record<string | number, unknown>)[last] = value;
  return JSON.stringify(data);
}

/** An agent as older versions wrote it, with the state of its checked result beside the input. */
const inputWithResultOf = (fields: object): unknown => {
  const data = JSON.parse(serializeRun(new RunDriver(FILES).run));
  return parseRun(JSON.stringify({ ...data, agents: [{ ...data.agents[0], ...fields }] }), 'r.json').agents[0]?.input;
};

test.each([
  ['a checked result', { input: '3', resultOf: 'COUNT.md' }, { text: '3', resultOf: 'COUNT.md' }],
  ['a plain input', { input: '3', resultOf: null }, '3'],
  ['no input', { input: null, resultOf: 'COUNT.md' }, null],
  ['the answer of a person after a checked result', { input: 'yes', resultOf: 'COUNT.md', askId: 'main-2' }, 'yes'],
  [
    'a step of an older journal after a newer state file',
    { input: { text: '3', resultOf: 'A.md' }, resultOf: null },
    '3',
  ],
])('reads %s of older versions', (_, fields, input) => {
  expect(inputWithResultOf(fields)).toStrictEqual(input);
});

test('a run is loaded from its state file exactly as it was', () => {
  const driver = new RunDriver(FILES).answer(
    '<fork next="START" item="x">WORKER</fork>',
    '<call return="BACK">START</call>',
  );
  driver.begin('main');
  expect(parseRun(serializeRun(driver.run), 'r.json')).toStrictEqual(driver.run);
});

test('the file has everything needed after a crash: variables, pending fork, counters, the running turn', () => {
  const driver = new RunDriver(FILES).answer(
    '<fork next="START" item="x">WORKER</fork>',
    '<call return="BACK">START</call>',
  );
  driver.begin('main_worker1');
  expect(JSON.parse(serializeRun(driver.run))).toMatchObject({
    status: 'running',
    iterations: 3,
    agents: [
      { id: 'main', session: { kind: 'branch', of: 's1' }, stack: [{ state: 'BACK.md' }], forks: 1, turns: 2 },
      {
        id: 'main_worker1',
        variables: { item: 'x' },
        phase: { kind: 'running', turn: { number: 1, session: { kind: 'new', id: 's2' } } },
      },
    ],
  });
});

test('an option that is newer than the state file has its default', () => {
  expect(parseRun(changed(['options', 'parallel'], undefined), 'r.json').options.parallel).toBe(8);
});

describe('a state file is refused, with a reason,', () => {
  test.each<[string, string, string]>([
    ['if it is not JSON', '{"version": 1,', 'r.json is not as Raymond wrote it: it is not JSON.'],
    ['if it is empty', '', 'r.json is not as Raymond wrote it: it is not JSON.'],
    ['if it has no version', '{"agents": []}', 'r.json is not as Raymond wrote it: it has no `version`.'],
    ['if it is not an object', '[1]', 'r.json is not as Raymond wrote it: it has no `version`.'],
    [
      'if it is of a later version',
      changed(['version'], RUN_VERSION + 1),
      `r.json has version ${RUN_VERSION + 1}; this Raymond reads versions 1 to ${RUN_VERSION}.`,
    ],
  ])('%s', (_, text, message) => {
    const refusal = refusalOf(text);
    expect(refusal.message).toBe(message);
    expect(refusal.exitCode).toBe(65);
    expect(refusal.hint).toContain('left untouched');
  });

  test.each<[string, (string | number)[], unknown, string]>([
    ['an unknown status', ['status'], 'sleepy', '`status`'],
    ['a missing agent id', ['agents', 0, 'id'], undefined, '`agents.0.id`'],
    ['an unknown phase', ['agents', 1, 'phase'], { kind: 'dreaming' }, '`agents.1.phase.kind`'],
    ['a key nobody knows', ['colour'], 'red', 'its top level'],
    ['broken money', ['ledger', 'spentMicros'], 1.5, '`ledger.spentMicros`'],
    [
      'an unknown tag in a policy',
      ['agents', 0, 'rules'],
      { policy: [{ tag: 'jump', target: null, attributes: {} }], maxVisits: null },
      '`agents.0.rules.policy.0.tag`',
    ],
  ])('if it holds %s', (_, path, value, place) => {
    expect(refusalOf(changed(path, value)).message).toContain(`r.json is not a state file of Raymond: ${place}:`);
  });
});
