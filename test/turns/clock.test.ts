import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SYSTEM_CLOCK } from '../../src/turns/clock.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 10 * HOUR_MS }));
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

test('a short wait is not prolonged by a clock that is set back', async () => {
  const slept = SYSTEM_CLOCK.sleepFor(30, never);
  vi.setSystemTime(9 * HOUR_MS);
  expect(await slept).toBe(true);
});

test('a wait for a time of day follows the clock', async () => {
  const stop = new AbortController();
  const slept = SYSTEM_CLOCK.sleepUntil(10 * HOUR_MS + 30, stop.signal);
  vi.setSystemTime(9 * HOUR_MS);
  const short = SYSTEM_CLOCK.sleepFor(60, never).then(() => 'still asleep');
  expect(await Promise.race([slept, short])).toBe('still asleep');
  stop.abort();
  expect(await slept).toBe(false);
});
