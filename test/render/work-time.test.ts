import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import { NO_TOKENS } from '../../src/core/run/tokens.ts';
import { computeWorkMs, NO_WORK_TIME, updateWorkTime } from '../../src/render/work-time.ts';
import { scriptTurnEnded } from './sample-events.ts';

const workflow = { name: 'w', path: '/w', platform: 'unix' } as const;
const started = (at: number): Event => ({
  kind: 'run_started',
  at,
  run: 'r',
  name: 'w',
  workflow,
  options: DEFAULT_OPTIONS,
});
const resumed = (at: number): Event => ({ kind: 'run_resumed', at, options: DEFAULT_OPTIONS });
const ended = (at: number): Event => ({
  kind: 'run_ended',
  at,
  status: 'completed',
  spentMicros: 0,
  estimatedMicros: 0,
  cannedMicros: 0,
  tokens: NO_TOKENS,
});
const begins = (at: number, agent = 'main'): Event => ({
  kind: 'turn_started',
  evaluator: null,
  at,
  agent,
  state: 'S.sh',
  turn: 1,
  prompt: 'state',
  session: null,
});

const about = (agent: string) => ({ agent, state: 'ASK.md' });
const asks = (at: number, agent = 'main'): Event => ({
  kind: 'asked',
  at,
  ...about(agent),
  ask: `${agent}-1`,
  question: {
    text: 'Well?',
    next: 'N.md',
    timeoutMs: null,
    timeoutNext: null,
    displayFiles: [],
    uploads: null,
    choices: null,
  },
  untilMs: null,
  taskFolder: null,
});
const timesOut = (at: number, agent = 'main'): Event => ({
  kind: 'ask_timed_out',
  at,
  ...about(agent),
  ask: `${agent}-1`,
});

test.each<[string, Event[], number]>([
  [
    'the time in which it only waits for a person does not count',
    [started(0), begins(10), scriptTurnEnded(30, 20), asks(30), timesOut(930), begins(940), ended(1000)],
    100,
  ],
  [
    'the time in which another agent has a turn counts',
    [started(0), begins(10, 'b'), asks(30), scriptTurnEnded(130, 120, 'b'), timesOut(930), ended(1000)],
    200,
  ],
  [
    'a run that ends while it waits',
    [started(0), asks(30), ended(1000), resumed(2000), timesOut(2050), ended(2100)],
    80,
  ],
  ['a crash while it waits', [started(0), asks(30), resumed(2000), timesOut(2050), ended(2100)], 80],
  ['one life', [started(0), begins(10), scriptTurnEnded(90, 80), ended(100)], 100],
  ['what lies between two lives does not count', [started(0), ended(100), resumed(1000), ended(1050)], 150],
  ['a life that was cut off counts to its last event', [started(0), begins(60), resumed(1000), ended(1050)], 110],
  [
    'a turn that ended in between was at work until then',
    [started(0), begins(60), resumed(1000), scriptTurnEnded(700, 640), ended(1050)],
    750,
  ],
  [
    'a turn that is still continuing in the next life was at work all the time',
    [started(0), begins(60), resumed(1000), scriptTurnEnded(1040, 980), ended(1050)],
    1050,
  ],
  [
    'turns side by side are not counted twice',
    [
      started(0),
      begins(50),
      begins(60, 'b'),
      resumed(1000),
      scriptTurnEnded(700, 650),
      scriptTurnEnded(800, 740, 'b'),
      ended(1050),
    ],
    850,
  ],
  [
    'a turn may outlive two lives',
    [started(0), begins(60), resumed(1000), resumed(2000), scriptTurnEnded(1500, 1440), ended(2050)],
    1550,
  ],
])('the working time: %s', (_, events, ms) => {
  expect(computeWorkMs(events.reduce(updateWorkTime, NO_WORK_TIME), 9999)).toBe(ms);
});
