import { expect, test } from 'vitest';
import { createTestProgressLine } from '../../src/cli/reports/test-summary.ts';
import { readTestSuite } from '../../src/testing/suite.ts';
import { FakeClock, FakeTerminal } from '../render/terminal/live/fake-terminal.ts';
import { folderWith } from '../testing/rig.ts';

const THREE = 'scenarios: [{ name: tests never pass }, { name: script dies }, { name: all goes well }]';

async function setUp(columns: number) {
  const { testCases: pieces } = await readTestSuite(
    ['a.test.yaml'],
    folderWith({ 'START.md': 'Go.', 'a.test.yaml': THREE }),
  );
  const [terminal, clock] = [new FakeTerminal(columns), new FakeClock()];
  const line = createTestProgressLine(terminal, pieces, clock);
  for (const piece of pieces) line.testStarted(piece);
  return { terminal, clock, line, pieces };
}

test('the progress line shows the running scenario, its duration, and how many are done', async () => {
  const { terminal, clock, line, pieces } = await setUp(80);
  expect(terminal.text).toBe('');
  clock.advance(2000);
  expect(terminal.text).toBe('2 s: waiting for tests never pass and 2 more (0 of 3 done)');
  for (const piece of pieces.slice(1)) line.testFinished(piece);
  clock.advance(1000);
  expect(terminal.text).toBe('3 s: waiting for tests never pass (2 of 3 done)');
  line.clear();
  expect(terminal.text).toBe('');
  clock.advance(1000);
  line.close();
  clock.advance(1000);
  expect(terminal.text).toBe('');
});

test('the progress line fits the width of the terminal', async () => {
  const { terminal, clock, line } = await setUp(40);
  clock.advance(1000);
  expect(terminal.text).toBe('1 s: waiting for tests never pass and…');
  line.close();
});
