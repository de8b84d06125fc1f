import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isOutputLost, saysDiskIsFull } from '../../src/process/full-disk.ts';
import { recordedExit, turnFiles } from '../../src/process/turn-files.ts';
import { run, shell, useTurns } from './turns.ts';

const { newTurn } = useTurns();

test.each([
  ['a whole block that ends in the middle of a line', 'x'.repeat(8192), true],
  ['a whole block of whole lines', `${'x'.repeat(4095)}\n`, false],
  ['part of a block', 'x'.repeat(4097), false],
  ['nothing', '', false],
])('output that is %s is cut off or not', (_, text, lost) => {
  const { dir } = newTurn();
  writeFileSync(turnFiles(dir).stdout, text);
  expect(isOutputLost(dir)).toBe(lost);
});

test('a wrapper that found the disk full says so beside the exit status', () => {
  const { dir } = newTurn();
  writeFileSync(turnFiles(dir).started, '12 34\n1 full\n');
  expect([recordedExit(dir)?.code, isOutputLost(dir)]).toStrictEqual([1, true]);
});

test.each(['exit 0', 'exit 1', 'echo text', 'echo text; exit 1'])(
  'nothing is lost after `%s` on a disk with room',
  async (script) => {
    const turn = newTurn();
    await run(turn, shell(turn, script));
    expect(isOutputLost(turn.dir)).toBe(false);
  },
);

test.each([
  ["cp: error writing 'x': No space left on device", true],
  ['Error: ENOSPC: no space left on device, write', true],
  ['tar: Disk quota exceeded', true],
  ['there is plenty of space', false],
])('the last words %j are about a full disk or not', (words, full) => {
  expect(saysDiskIsFull(words)).toBe(full);
});
