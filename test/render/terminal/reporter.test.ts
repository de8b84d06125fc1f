import { expect, test } from 'vitest';
import type { Activity } from '../../../src/core/run/activity.ts';
import type { Printed } from '../../../src/core/run/event.ts';
import { createPlainReporter, createQuietReporter } from '../../../src/render/terminal/reporter.ts';

const retry = (at: number, agent: string, reason: string): Activity => {
  return { at, agent, doing: { kind: 'retries', attempt: 1, limit: 10, untilMs: at + 2_000, reason } };
};

test('plain output says that the API fails, for all agents together every ten seconds', () => {
  const lines: string[] = [];
  const { watchRetries, watch } = createPlainReporter((line) => lines.push(line), false);
  expect(watch).toBe(undefined);
  for (let at = 0; at < 15_000; at += 1_000) {
    for (const agent of ['a', 'b', 'c']) watchRetries?.(retry(at, agent, 'no connection'));
  }
  watchRetries?.(retry(15_000, 'c', '529 overloaded'));
  expect(lines).toStrictEqual([
    '[a] ! retrying in 2 s (1 of 10): no connection\n',
    '[a] ! retrying in 2 s (1 of 10): no connection\n',
    '[c] ! retrying in 2 s (1 of 10): 529 overloaded\n',
  ]);
});

test('quiet output does not', () => {
  const lines: string[] = [];
  createQuietReporter((line) => lines.push(line)).watchRetries?.(retry(0, 'a', 'no connection'));
  expect(lines).toStrictEqual([]);
});

const printed: Printed = {
  kind: 'printed',
  at: 0,
  agent: 'main',
  state: 'START.md',
  turn: 1,
  text: 'one\n\u001b[2Jtwo',
};

test('plain output shows a <print> under the name of its agent when it comes, and not again when it is on record', () => {
  const lines: string[] = [];
  const { watchPrints, observe } = createPlainReporter((line) => lines.push(line), false);
  watchPrints?.(printed);
  observe(printed);
  expect(lines).toStrictEqual(['[main] one\n[main]   two\n']);
});

test('quiet output shows none', () => {
  const lines: string[] = [];
  const { watchPrints, observe } = createQuietReporter((line) => lines.push(line));
  observe(printed);
  expect([watchPrints, lines]).toStrictEqual([undefined, []]);
});
