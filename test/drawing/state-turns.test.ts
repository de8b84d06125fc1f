import { expect, test } from 'vitest';
import type { Event } from '../../src/core/run/event.ts';
import { createCardTurns, TurnCollector, type TurnsByState } from '../../src/drawing/state-turns.ts';
import { RunDriver, usd } from '../core/run-driver.ts';

function collect(events: readonly Event[]): TurnsByState {
  const collector = new TurnCollector();
  for (const event of events) collector.add(event);
  return collector.states;
}

test('the turns of a state are listed with agent, cost and outcome, the latest first', () => {
  const driver = new RunDriver({ files: ['START.md', 'W.md'] });
  driver.answer({ text: '<fork next="W" item="login">W</fork>', cost: usd(0.5) });
  driver.runTurn('main_w1', { text: 'no tag', cost: usd(0.1) }).runTurn('main_w1', '<result>w</result>');
  const states = collect(driver.events);
  expect(createCardTurns(states.get('START.md'))).toMatchObject({
    shown: [{ title: 'main, turn 1', outcome: 'START.md → W.md (fork) $0.50', failed: false, denied: [] }],
    leftOut: 0,
  });
  expect(createCardTurns(states.get('W.md'))?.shown).toMatchObject([
    { title: 'main_w1 item=login, turn 2', outcome: 'W.md → end (result) $0.10' },
    { title: 'main_w1 item=login, turn 1', outcome: 'W.md: reminder 1 of 1: it contains no tag' },
  ]);
  expect(createCardTurns(states.get('W.md'))?.shown[1]?.figures).toMatch(/, 0\.0s, \$0\.10$/);
  expect(createCardTurns(states.get('OTHER.md'))).toBeNull();
});

const ENDED = {
  kind: 'turn_ended',
  evaluator: null,
  agent: 'main',
  state: 'A.md',
  turn: 1,
  at: 5_000,
  session: 's',
} as const;
const FIGURES = {
  canned: false,
  models: [],
  costMicros: 1,
  estimated: false,
  spentMicros: 1,
  durationMs: 1,
  failure: null,
  denials: [],
};

test('denials, failures and estimates are told, and hostile text is cut and has nothing invisible', () => {
  const [shown] =
    createCardTurns(
      collect([
        {
          ...ENDED,
          ...FIGURES,
          estimated: true,
          failure: 'timeout',
          denials: ['Bash(x\u202e)', 'Bash(x\u202e)', 'y'.repeat(999)],
        },
        { kind: 'agent_failed', at: 6_000, agent: 'main', state: 'A.md', message: 'z'.repeat(9_999) },
      ]).get('A.md'),
    )?.shown ?? [];
  expect(shown).toMatchObject({ failed: true, denied: ['Bash(x\ufffd)', `${'y'.repeat(300)}…`] });
  expect(shown?.figures).toMatch(/\(\$\S+ estimated\)$/);
  expect(shown?.outcome).toHaveLength(501);
});

test('only the latest turns of a state are kept', () => {
  const events = Array.from({ length: 100 }, (_, at): Event => ({ ...ENDED, ...FIGURES, turn: at + 1 }));
  const card = createCardTurns(collect(events).get('A.md'));
  expect([card?.shown.length, card?.leftOut, card?.shown[0]?.title]).toStrictEqual([20, 80, 'main, turn 100']);
});
