import { expect, test } from 'vitest';
import { parseDurationMs } from '../../src/language/text/duration.ts';

test.each([
  [1.5, 1500],
  [0, 0],
  [1e-9, 1],
  ['90', 90_000],
  ['90s', 90_000],
  ['1.5m', 90_000],
  ['24h', 86_400_000],
  ['7d', 604_800_000],
  ['0', 0],
  ['0.0001s', 1],
])('%j is %d ms', (written, ms) => {
  expect(parseDurationMs(written)).toBe(ms);
});

test.each(['', 's', '-1', '1 h', '1w', '1h30m', '1e3', '0x10', -1, Number.NaN])('%j is no duration', (written) => {
  expect(parseDurationMs(written)).toBeUndefined();
});
