import { describe, expect, test } from 'vitest';
import type { Failed } from '../../src/core/signals/signal.ts';
import { RunDriver } from './run-driver.ts';

const FILES = { files: ['START.md', 'A.md', 'B.md', 'S.sh'] };

/** A driver whose next turn summarizes the conversation before the prompt of A.md. */
const beforeCompaction = (retries = 3) => new RunDriver(FILES, { retries }).answer('<compact input="x">A</compact>');

const promptsOf = ({ events }: RunDriver): readonly string[] =>
  events.flatMap((event) => (event.kind === 'turn_started' ? `${event.state} ${event.prompt}` : []));
const warningsOf = ({ events }: RunDriver): readonly string[] =>
  events.flatMap((event) => (event.kind === 'warning' ? event.message : []));

describe('compact', () => {
  test('summarizes the conversation in a turn of its own, before the prompt that it leads to', () => {
    const driver = beforeCompaction().answer('', '<goto>B</goto>', '<result>r</result>');
    expect(promptsOf(driver)).toStrictEqual(['START.md state', 'A.md compact', 'A.md state', 'B.md state']);
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1', 'resume s1', 'resume s1']);
    expect(driver.turns.map(({ input }) => input)).toStrictEqual([null, 'x', 'x', null]);
    expect(warningsOf(driver)).toStrictEqual([]);
    expect(driver.agent()).toMatchObject({ visits: { 'START.md': 1, 'A.md': 1, 'B.md': 1 }, turns: 4 });
    expect(driver.run.iterations).toBe(3);
  });

  test('waits for the next prompt if it leads to a script, and counts for the branch of a call as well', () => {
    const driver = new RunDriver(FILES);
    driver.answer(
      '<compact>S</compact>',
      '<call return="B">A</call>',
      '',
      '<result>r</result>',
      '',
      '<result>r</result>',
    );
    expect(promptsOf(driver)).toStrictEqual([
      'START.md state',
      'S.sh state',
      'A.md compact',
      'A.md state',
      'B.md compact',
      'B.md state',
    ]);
  });

  test('continues with a warning if there is no conversation yet', () => {
    const driver = new RunDriver({ files: ['S.sh', 'A.md'] }).answer('<compact>A</compact>', '<result>r</result>');
    expect(promptsOf(driver)).toStrictEqual(['S.sh state', 'A.md state']);
    expect(warningsOf(driver)).toStrictEqual(['S.sh: there is no conversation yet that <compact> could summarize']);
  });

  test('is forgotten with the conversation', () => {
    const driver = new RunDriver(FILES).answer('<compact>S</compact>', '<reset>A</reset>', '<result>r</result>');
    expect(promptsOf(driver)).toStrictEqual(['START.md state', 'S.sh state', 'A.md state']);
  });

  test('continues as it is if Claude Code says why there is no summary', () => {
    const driver = beforeCompaction().answer('Not enough messages to compact.', '<result>r</result>');
    expect(promptsOf(driver)).toStrictEqual(['START.md state', 'A.md compact', 'A.md state']);
    expect(warningsOf(driver)).toStrictEqual([
      'A.md: the conversation could not be summarized (Not enough messages to compact.); it continues as it is',
    ]);
  });

  test.each<[Failed['failure']['kind']]>([
    ...(
      ['prompt_too_long', 'invalid_request', 'refusal', 'max_turns', 'model', 'billing', 'session_lost'] as const
    ).map((kind) => [kind] as [typeof kind]),
  ])('continues as it is after a failure that does not pass by itself: %s', (kind) => {
    const driver = beforeCompaction().answer({ fail: { kind, message: 'no' } }, '<result>r</result>');
    expect(promptsOf(driver)).toStrictEqual(['START.md state', 'A.md compact', 'A.md state']);
    expect(warningsOf(driver)).toStrictEqual([
      'A.md: the conversation could not be summarized (no); it continues as it is',
    ]);
    expect(driver.agent()).toMatchObject({ retries: 0, phase: { kind: 'ended' } });
  });

  test.each(['stopped', 'lost'] as const)('is tried again after a turn that was %s', (kind) => {
    const driver = beforeCompaction();
    driver.answer({ fail: { kind, message: 'no' }, progress: 'answer' }, '', '<result>r</result>');
    expect(promptsOf(driver)).toStrictEqual(['START.md state', 'A.md compact', 'A.md compact', 'A.md state']);
    expect(warningsOf(driver)).toStrictEqual([]);
  });
});
