import { describe, expect, test } from 'vitest';
import { TransitionsLog } from '../../src/observers/transitions-log.ts';
import { clock, dollars, lineOf, localTime } from '../../src/observers/words.ts';
import { Stage, usd } from '../core/play.ts';

describe('words for people', () => {
  test.each([
    [0, '$0.00'],
    [12_300, '$0.0123'],
    [250_000, '$0.25'],
    [12_345_678, '$12.35'],
  ])('%i micro-dollars are %s', (micros, words) => expect(dollars(micros)).toBe(words));

  test('a time of another day comes with its date', () => {
    const now = new Date(2026, 0, 15, 14, 30, 22).getTime();
    expect(localTime(now)).toBe('2026-01-15 14:30:22');
    expect(clock(now + 60_000, now)).toBe('14:31');
    expect(clock(now + 86_400_000, now)).toBe('2026-01-16 14:30');
  });
});

test('a run reads as a story, one line an event, each labelled with its agent', () => {
  const stage = new Stage({ files: ['START.md', 'W.sh'] });
  stage.plays({ text: '<fork next="W">W</fork>', cost: usd(0.5) }, '?').take('main_w1', '<result>w</result>');
  expect(stage.events.map(lineOf).filter((line) => line !== null)).toStrictEqual([
    'run run-1: /w/book',
    '[main] START.md',
    '[main] START.md → W.sh (fork) $0.50',
    '[main_w1] forked by main, starts in W.sh',
    '[main] W.sh',
    '[main] failed: W.sh: no next step is found in its output: it contains no tag',
    '[main_w1] W.sh',
    '[main_w1] W.sh → end (result) $0.00',
    'the run has ended: failed, $0.50',
  ]);
});

test('transitions.log says who went where, in which session, for how much', () => {
  const stage = new Stage({ files: ['START.md', 'B.md'] });
  stage.plays(
    { text: '<call return="B">B</call>', cost: usd(0.5) },
    { text: '<result>a "b"</result>', cost: usd(0.25) },
  );
  const log = new TransitionsLog(0);
  const at = (ms: number) => localTime(ms);
  expect(stage.events.map((event) => log.entryOf(event) ?? '').join('')).toBe(
    `${at(1020)} [main] START.md -> B.md (call)
  session_id: s1
  cost: $0.50
  total_cost: $0.50
  stack_depth: 1

${at(1040)} [main] B.md -> B.md (result)
  session_id: s2
  cost: $0.25
  total_cost: $0.75
  result: "a \\"b\\""

`,
  );
});
