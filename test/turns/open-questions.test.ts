import { expect, test } from 'vitest';
import type { AskTurn } from '../../src/core/turns/ask-turn.ts';
import { createClock, SYSTEM_CLOCK } from '../../src/process/clock.ts';
import { OpenQuestions } from '../../src/turns/open-questions.ts';

test('a question that nobody waits for any more is taken off the board, and nothing looks for its answer', () => {
  const looks: string[] = [];
  const source = {
    poll() {
      looks.push('look');
      return () => false;
    },
    find: async () => undefined,
    expire: async () => {},
  };
  const board = new OpenQuestions(source, SYSTEM_CLOCK);
  try {
    const question = { ask: 'main-1', agent: 'main', untilMs: null };
    board.wait(question as AskTurn);
    board.wait({ ...question, ask: 'main_w1-1', agent: 'main_w1' } as AskTurn);
    board.forget('main_w1-1');
    expect([board.find('main-1')?.agent, board.find('main_w1-1')]).toStrictEqual(['main', undefined]);
    board.poll();
    expect(looks).toHaveLength(1);
    board.forget('main-1');
    board.poll();
    expect(looks).toHaveLength(1);
  } finally {
    board.close();
  }
});

test('questions end in time on a clock that is set back, also where another one comes first', async () => {
  const HOUR_MS = 3_600_000;
  let aheadMs = 0;
  const clock = createClock(() => aheadMs);
  const source = { poll: () => () => false, find: async () => undefined, expire: async () => {} };
  const board = new OpenQuestions(source, clock);
  const ask = (name: string, ms: number): Promise<unknown> =>
    board.wait({ kind: 'sleep', ask: name, agent: name, untilMs: clock.now() + ms, mostMs: ms } as AskTurn);
  try {
    const first = ask('first', 60);
    aheadMs = -24 * HOUR_MS;
    const second = ask('second', 30);
    expect(await Promise.all([first, second])).toMatchObject([
      { kind: 'ask_timed_out', ask: 'first' },
      { kind: 'ask_timed_out', ask: 'second' },
    ]);
  } finally {
    board.close();
  }
});
