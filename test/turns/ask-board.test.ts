import { expect, test, vi } from 'vitest';
import type { AskTurn } from '../../src/core/ask-turn.ts';
import { AskBoard } from '../../src/turns/ask-board.ts';
import { SYSTEM_CLOCK } from '../../src/turns/clock.ts';

test('a question that nobody waits for any more is taken off the board, and nothing looks for its answer', async () => {
  vi.useFakeTimers();
  const looks: string[] = [];
  const source = {
    look() {
      looks.push('look');
      return () => false;
    },
    find: async () => undefined,
    expire: async () => {},
  };
  const board = new AskBoard(source, SYSTEM_CLOCK);
  try {
    const question = { ask: 'main-1', agent: 'main', untilMs: null };
    board.wait(question as AskTurn);
    board.wait({ ...question, ask: 'main_w1-1', agent: 'main_w1' } as AskTurn);
    board.forget('main_w1-1');
    expect([board.find('main-1')?.agent, board.find('main_w1-1')]).toStrictEqual(['main', undefined]);
    vi.advanceTimersByTime(250);
    expect(looks).toHaveLength(1);
    board.forget('main-1');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    board.close();
    vi.useRealTimers();
  }
});
