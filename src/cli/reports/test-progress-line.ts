import { sanitizeLine } from '../../render/sanitize.ts';
import { type LiveClock, type Screen, SYSTEM_LIVE_CLOCK } from '../../render/terminal/terminal.ts';
import { createColorizer } from '../../render/text-style.ts';
import { shorten } from '../../render/text-width.ts';
import type { TestCase } from '../../testing/suite.ts';

/** A line at the bottom of the screen that names the scenario that is awaited. */
export interface TestProgressLine {
  testStarted(testCase: TestCase): void;
  testFinished(testCase: TestCase): void;
  /** Removes the line, so that something else can be printed. */
  clear(): void;
  close(): void;
}

const TICK_MS = 1000;
const CLEAR_LINE = '\r\u001b[K';

/** Creates a progress line. It appears only after a second without a result: most scenarios are faster. */
export function createTestProgressLine(
  screen: Screen,
  testCases: readonly TestCase[],
  clock: Pick<LiveClock, 'now' | 'every'> = SYSTEM_LIVE_CLOCK,
): TestProgressLine {
  const startedAt = new Map<TestCase, number>();
  let finishedCount = 0;
  let isShown = false;
  const clear = (): void => {
    if (isShown) screen.write(CLEAR_LINE);
    isShown = false;
  };
  const stopTimer = clock.every(TICK_MS, () => {
    const [first, ...others] = testCases.filter((testCase) => startedAt.has(testCase));
    if (first === undefined) return clear();
    const othersNote = others.length === 0 ? '' : ` and ${others.length} more`;
    const seconds = Math.round((clock.now() - (startedAt.get(first) ?? 0)) / 1000);
    const line = `${seconds} s: waiting for ${sanitizeLine(first.spec.name)}${othersNote} (${finishedCount} of ${testCases.length} done)`;
    screen.write(CLEAR_LINE + createColorizer(screen.color)('dim', shorten(line, screen.size().columns - 1)));
    isShown = true;
  });
  return {
    testStarted: (testCase) => void startedAt.set(testCase, clock.now()),
    testFinished(testCase) {
      startedAt.delete(testCase);
      finishedCount += 1;
    },
    clear,
    close() {
      stopTimer();
      clear();
    },
  };
}
