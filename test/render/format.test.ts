import { describe, expect, test } from 'vitest';
import type { Evaluator } from '../../src/language/policy.ts';
import { TransitionsLog } from '../../src/render/debug-files.ts';
import {
  formatActivity,
  formatClock,
  formatDollars,
  formatDuration,
  formatElapsed,
  formatEvent,
  formatLocalTime,
  formatShortCount,
  formatSpending,
} from '../../src/render/format.ts';
import { entryOf } from '../core/builders.ts';
import { RunDriver, usd } from '../core/run-driver.ts';

describe('human-readable formats', () => {
  test.each([
    [0, '$0.00'],
    [1_230, '$0.0012'],
    [12_300, '$0.01'],
    [80_000, '$0.08'],
    [250_000, '$0.25'],
    [12_345_678, '$12.35'],
  ])('%i micro-dollars are %s', (micros, words) => {
    expect(formatDollars(micros)).toBe(words);
  });

  test.each([
    [-5, '0:00', '0.0s'],
    [9_940, '0:09', '9.9s'],
    [42_900, '0:42', '0:42'],
    [723_000, '12:03', '12:03'],
    [3_723_000, '1:02:03', '1:02:03'],
  ])('%i milliseconds are %s, and once they are over %s', (ms, running, over) => {
    expect([formatDuration(ms), formatElapsed(ms)]).toStrictEqual([running, over]);
  });

  test('a time of another day comes with its date', () => {
    const now = new Date(2026, 0, 15, 14, 30, 22).getTime();
    expect(formatLocalTime(now)).toBe('2026-01-15 14:30:22');
    expect(formatClock(now + 60_000, now)).toBe('14:31');
    expect(formatClock(now + 86_400_000, now)).toBe('2026-01-16 14:30');
  });
});

test('a run is one line per event, each labelled with its agent', () => {
  const driver = new RunDriver({ files: ['START.md', 'W.sh'] });
  driver.answer({ text: '<fork next="W">W</fork>', cost: usd(0.5) }, '?').runTurn('main_w1', '<result>w</result>');
  expect(driver.events.map((event) => formatEvent(event)).filter((line) => line !== null)).toStrictEqual([
    'run run-1: /w/book',
    '[main] START.md',
    '[main] START.md → W.sh (fork) $0.50',
    '[main_w1] forked by main, starts in W.sh',
    '[main] W.sh',
    '[main] failed: W.sh: no next step is found in its output: it contains no tag; it printed:\n[main]   ?',
    '[main_w1] W.sh',
    '[main_w1] W.sh → end (result) $0.00',
    'the run has ended: failed, $0.50',
  ]);
});

test.each([
  [3_900, 'tried again in 4 s'],
  [10, 'tried again in 1 s'],
  [90_000, 'tried again in 90 s'],
  [300_000, 'tried again at 14:35'],
])('a retry after %i ms is %s', (ms, words) => {
  const at = new Date(2026, 0, 15, 14, 30, 0).getTime();
  const place = { at, agent: 'main', state: 'START.md', count: 1, failure: 'transient', why: 'retry' } as const;
  expect(formatEvent({ kind: 'sleeping', ...place, untilMs: at + ms, message: 'No.' })).toBe(`[main] No; ${words}`);
});

test('a text of several lines is labelled on each, and cannot control a terminal', () => {
  const message = 'START.sh: exit 2\n\u001b[2Jlast\r\n\twords\n';
  const failed = { kind: 'agent_failed', at: 1, agent: 'main_w1', state: 'START.sh', message } as const;
  expect(formatEvent(failed)).toBe('[main_w1] failed: START.sh: exit 2\n[main_w1]   last\n[main_w1]       words');
  const says = { kind: 'says', text: 'a\n\nb\u0007' } as const;
  expect(formatActivity({ at: 1, agent: 'main', doing: says })).toStrictEqual(['[main] | a', '[main] | b']);
});

const TOKENS = { input: 1_200, output: 340, cacheRead: 56_000, cacheWrite: 7_800 };

test('transitions.log has the agent, states, session, cost and tokens of each transition', () => {
  const driver = new RunDriver({ files: ['START.md', 'B.md'] });
  driver.answer(
    { text: '<call return="B">B</call>', cost: { ...usd(0.5), models: [{ model: 'm', weight: 1, tokens: TOKENS }] } },
    { text: '<result>a "b"</result>', cost: usd(0.25) },
  );
  const log = new TransitionsLog(0);
  const at = (ms: number) => formatLocalTime(ms);
  expect(driver.events.map((event) => log.formatEntry(event) ?? '').join('')).toBe(
    `${at(1020)} [main] START.md -> B.md (call)
  requested: <call return="B">B</call>
  made: <call return="B">B</call>
  decided_by: answer
  session_id: s1 (new)
  cwd: /w
  cost: $0.50
  tokens: 1.2k in, 340 out, 56k cache read, 7.8k cache written
  total_cost: $0.50
  stack_depth: 1

${at(1040)} [main] B.md -> B.md (result)
  requested: <result>…</result>
  made: <result>…</result>
  decided_by: answer
  session_id: s2 (forked)
  cwd: /w
  cost: $0.25
  tokens: 0 in, 0 out, 0 cache read, 0 cache written
  total_cost: $0.75
  result: "a \\"b\\""

`,
  );
});

describe('transitions.log tells who decided', () => {
  const logOf = (driver: RunDriver): readonly string[] => {
    const log = new TransitionsLog(0);
    const entries = driver.events.map((event) => log.formatEntry(event) ?? '').join('');
    // Without the times, and what the test above shows.
    return entries.split('\n').flatMap((line) => {
      const shown = line.replace(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /, '');
      return shown === '' || /^ {2}(?:tokens|total_cost|cwd):/.test(shown) ? [] : shown;
    });
  };
  const evaluators: readonly Evaluator[] = [
    { kind: 'pattern', pattern: 'TODO', overridesOn: 'match', instead: entryOf('goto', 'B.md') },
    { kind: 'prompt', file: 'JUDGE', model: null, effort: null },
  ];
  const workflow = { files: ['START.md', 'B.md', 'JUDGE.md'], rules: { 'START.md': { evaluators } } };

  test('if an evaluator confirms, or overrides', () => {
    const confirmed = new RunDriver(workflow).answer('<result>x</result>', 'Fine.\n<confirm/>');
    expect(logOf(confirmed).slice(0, 4)).toStrictEqual([
      '[main] START.md: JUDGE.md confirms <result>x</result>: Fine.',
      '[main] START.md -> (result, terminated)',
      '  requested: <result>…</result>',
      '  made: <result>…</result>',
    ]);
    const overridden = new RunDriver(workflow).answer(
      { text: '<result>x</result>', cost: usd(0.5) },
      'A test is missing.\n<fork next="B" item="a">B</fork>',
    );
    expect(logOf(overridden)).toStrictEqual([
      '[main] START.md: JUDGE.md overrides <result>x</result>: A test is missing.',
      '[main] START.md -> B.md (fork)',
      '  requested: <result>…</result>',
      '  made: <fork next="B" item="a">B</fork>',
      '  decided_by: evaluator JUDGE.md: A test is missing.',
      '  session_id: s1 (new)',
      '  cost: $0.50',
      '[main_b1 item=a] forked by main: starts in B.md',
    ]);
    expect(logOf(new RunDriver(workflow).answer('TODO <result>x</result>'))).toContain(
      '  decided_by: evaluator match `TODO`: the answer matches',
    );
  });

  test('if the policy leaves only one transition', () => {
    const implicit = { files: ['START.md', 'B.md'], rules: { 'START.md': { policy: [entryOf('goto', 'B.md')] } } };
    expect(logOf(new RunDriver(implicit).answer('Done.'))).toContain('  decided_by: policy (implicit)');
  });

  test('if a limit keeps a transition from being made, or a state from being entered', () => {
    const overBudget = new RunDriver(workflow, { budgetMicros: 100_000 });
    expect(logOf(overBudget.answer({ text: '<goto>B</goto>', cost: usd(0.5) }))).toStrictEqual([
      'the run stops: budget',
      '[main] START.md: budget reached, transition not followed',
      '  requested: <goto>B</goto>',
      '  made: none',
      '  decided_by: budget',
      '  session_id: s1 (new)',
      '  cost: $0.50',
    ]);
    const overIterations = new RunDriver({ files: ['START.md', 'B.md'] }, { maxIterations: 1 });
    overIterations.answer('<goto>B</goto>').begin('main');
    expect(logOf(overIterations).slice(-3)).toStrictEqual([
      '[main] B.md: max_iterations reached, not entered',
      '  made: none',
      '  decided_by: max_iterations',
    ]);
  });
});

test.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1.0k'],
  [9_949, '9.9k'],
  [12_345, '12k'],
  [999_499, '999k'],
  [999_900, '1.0M'],
  [1_250_000_000, '1.3B'],
])('%d tokens are %s', (count, words) => {
  expect(formatShortCount(count)).toBe(words);
});

test.each([
  [{ spentMicros: 1_200_000 }, '$1.20'],
  [{ spentMicros: 1_200_000, budgetMicros: 5_000_000, estimatedMicros: 100_000 }, '$1.20 of $5.00 ($0.10 estimated)'],
  [
    { spentMicros: 1_200_000, estimatedMicros: 100_000, cannedMicros: 300_000 },
    '$1.20 ($0.10 estimated, $0.30 canned)',
  ],
  [{ spentMicros: 1_200_000, estimatedMicros: 100_000, cannedMicros: 1_200_000 }, '$1.20 (canned)'],
])('%j is %s', (spending, words) => {
  expect(formatSpending(spending)).toBe(words);
});
