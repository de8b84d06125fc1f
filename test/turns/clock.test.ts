import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SYSTEM_CLOCK, startStopwatch } from '../../src/process/clock.ts';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 10 * HOUR_MS }));
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

test('a short wait is not prolonged by a clock that is set back', async () => {
  const slept = SYSTEM_CLOCK.sleepFor(30, never);
  vi.setSystemTime(9 * HOUR_MS);
  expect(await slept).toBe(true);
});

test('a wait for a time of day is not prolonged by a clock that is set back', async () => {
  const remainingMs = SYSTEM_CLOCK.measureUntil(10 * HOUR_MS + 30, Number.POSITIVE_INFINITY);
  vi.setSystemTime(9 * HOUR_MS);
  expect(remainingMs()).toBeLessThanOrEqual(30);
  expect(await SYSTEM_CLOCK.sleepWhile(remainingMs, never)).toBe(true);
});

test('a wait for a time of day ends early if the clock is set forward', async () => {
  const remainingMs = SYSTEM_CLOCK.measureUntil(11 * HOUR_MS, Number.POSITIVE_INFINITY);
  vi.setSystemTime(12 * HOUR_MS);
  expect(await SYSTEM_CLOCK.sleepWhile(remainingMs, never)).toBe(true);
});

test('a wait takes no longer than it was to, although the clock was set back before it began', () => {
  expect(SYSTEM_CLOCK.measureUntil(30 * HOUR_MS, HOUR_MS)()).toBeLessThanOrEqual(HOUR_MS);
});

test('a wait ends at once when it is woken', async () => {
  const stop = new AbortController();
  const remainingMs = SYSTEM_CLOCK.measureUntil(11 * HOUR_MS, Number.POSITIVE_INFINITY);
  const slept = SYSTEM_CLOCK.sleepWhile(remainingMs, stop.signal);
  stop.abort();
  expect(await slept).toBe(false);
});

test('a stopwatch counts on when the clock is set back', async () => {
  const elapsedMs = startStopwatch();
  vi.setSystemTime(9 * HOUR_MS);
  await SYSTEM_CLOCK.sleepFor(20, never);
  expect(elapsedMs()).toBeGreaterThanOrEqual(20);
  vi.setSystemTime(12 * HOUR_MS);
  expect(elapsedMs()).toBeGreaterThanOrEqual(2 * HOUR_MS);
});
