import { describe, expect, test } from 'vitest';
import { isUsageLimitText, limitUntilMs, parseResetMs } from '../../../src/turns/claude/usage-limit.ts';

const at = (iso: string): number => Date.parse(iso);
const inText = (text: string, now: string): string | null => {
  const ms = parseResetMs({ resetsAt: null, text }, at(now));
  return ms === null ? null : new Date(ms).toISOString();
};

test.each([
  ["You've hit your limit · resets 1pm (America/New_York)", '2026-07-01T12:00:00Z', '2026-07-01T17:00:00.000Z'],
  ["You've hit your limit · resets 1pm (America/New_York)", '2026-12-01T12:00:00Z', '2026-12-01T18:00:00.000Z'],
  ["You've hit your session limit · resets 3:50pm (Asia/Tokyo)", '2026-11-16T05:00:00Z', '2026-11-16T06:50:00.000Z'],
  ["You've hit your session limit · resets 3:50pm (Asia/Tokyo)", '2026-11-16T07:00:00Z', '2026-11-17T06:50:00.000Z'],
  ["You're out of extra usage · resets 11:30am (Europe/Berlin)", '2026-08-01T00:00:00Z', '2026-08-01T09:30:00.000Z'],
  [
    "You've hit your weekly limit · resets Sep 14 at 8pm (Europe/London)",
    '2026-09-10T00:00:00Z',
    '2026-09-14T19:00:00.000Z',
  ],
  ["You've hit your weekly limit · resets Sep 14, 8:15pm (UTC)", '2026-09-10T00:00:00Z', '2026-09-14T20:15:00.000Z'],
  [
    "You've hit your weekly limit · resets Jan 2 at 8pm (Asia/Kathmandu)",
    '2026-12-30T00:00:00Z',
    '2027-01-02T14:15:00.000Z',
  ],
  ['limit · resets Jan 2, 2027, 8 PM (Australia/Sydney)', '2026-12-30T00:00:00Z', '2027-01-02T09:00:00.000Z'],
  ["You've hit your 5-hour limit · resets 2:56am (UTC)", '2026-11-16T01:56:46Z', '2026-11-16T02:56:00.000Z'],
  ['resets 12am (UTC)', '2026-11-16T22:00:00Z', '2026-11-17T00:00:00.000Z'],
  ['resets 12:05pm (UTC)', '2026-11-16T10:00:00Z', '2026-11-16T12:05:00.000Z'],
  ['Claude AI usage limit reached|1794797676', '2026-11-16T01:54:36Z', '2026-11-16T02:54:36.000Z'],
  [
    'API Error: Request rejected (429) · Claude AI usage limit reached|1794797676',
    '2026-11-16T01:54:36Z',
    '2026-11-16T02:54:36.000Z',
  ],
])('"%s", printed at %s, means %s', (text, now, iso) => {
  expect(inText(text, now)).toBe(iso);
});

describe('changes between summer and winter time', () => {
  test.each([
    ['the day is short', 'resets 6am (America/New_York)', '2026-03-08T04:30:00Z', '2026-03-08T10:00:00.000Z'],
    ['the day is long', 'resets 6am (America/New_York)', '2026-11-01T04:30:00Z', '2026-11-01T11:00:00.000Z'],
    ['the time is jumped over', 'resets 2:30am (America/New_York)', '2026-03-08T04:30:00Z', '2026-03-08T07:30:00.000Z'],
    ['the time comes twice', 'resets 1:30am (America/New_York)', '2026-11-01T04:30:00Z', '2026-11-01T05:30:00.000Z'],
    [
      'it is tomorrow there already',
      'resets 1am (Pacific/Auckland)',
      '2026-06-30T11:30:00Z',
      '2026-06-30T13:00:00.000Z',
    ],
    [
      'it is still yesterday there',
      'resets 11pm (Pacific/Honolulu)',
      '2026-07-02T08:00:00Z',
      '2026-07-02T09:00:00.000Z',
    ],
  ])('are understood when %s', (_, text, now, iso) => {
    expect(inText(text, now)).toBe(iso);
  });
});

test.each([
  ['has just passed means now, not tomorrow', 'resets 1pm (UTC)', '2026-11-16T13:00:50Z', '2026-11-16T13:00:00.000Z'],
  ['has passed means tomorrow', 'resets 1pm (UTC)', '2026-11-16T13:05:00Z', '2026-11-17T13:00:00.000Z'],
])('a time that %s', (_, text, now, iso) => {
  expect(inText(text, now)).toBe(iso);
});

test.each([
  ['a monthly limit', "You've hit your monthly spend limit."],
  ['a zone that does not exist', 'resets 1pm (Mars/Olympus)'],
  ['a month that does not exist', 'resets Foo 14 at 8pm (UTC)'],
  ['a date that has long passed: nobody waits a year', 'resets Sep 14 at 8pm (UTC)'],
  ['an epoch far away', 'usage limit reached|9999999999'],
  ['nothing', ''],
])('%s has no time', (_, text) => {
  expect(inText(text, '2026-11-16T01:00:00Z')).toBe(null);
});

test('a time without a zone is in the local time zone', () => {
  const now = at('2026-11-16T01:00:00Z');
  const ms = parseResetMs({ resetsAt: null, text: 'resets 1pm' }, now) ?? 0;
  expect([new Date(ms).getHours(), new Date(ms).getMinutes()]).toStrictEqual([13, 0]);
});

test('the event takes precedence over the text, in seconds or milliseconds, unless it is absurd', () => {
  const now = at('2026-11-16T01:00:00Z');
  const text = 'resets 3am (UTC)';
  const reset = (resetsAt: number | null) => parseResetMs({ resetsAt, text }, now);
  const soon = now + 600_000;
  expect([soon / 1000, soon, 12, Number.NaN, null].map(reset)).toStrictEqual([
    soon,
    soon,
    ...Array(3).fill(at('2026-11-16T03:00:00Z')),
  ]);
});

test('a limit is waited for to the second that it names and a few more, and never into the past', () => {
  const now = at('2026-11-16T01:00:00Z');
  const until = (jitter: number) => (resetsAt: number) => limitUntilMs({ resetsAt, text: '' }, now, 0, jitter) - now;
  expect([now / 1000 + 100, now / 1000, now / 1000 - 100].map(until(0))).toStrictEqual([100_000, 1_000, 1_000]);
  expect([now / 1000 + 100, now / 1000, now / 1000 - 100].map(until(0.5))).toStrictEqual([105_000, 6_000, 6_000]);
});

test('a limit that should be over is tried again after one second, then two, and so on up to a minute', () => {
  const now = at('2026-11-16T01:00:00Z');
  const limit = { resetsAt: now / 1000 - 1, text: '' };
  const seconds = [0, 1, 2, 5, 6, 50].map((prior) => (limitUntilMs(limit, now, prior) - now) / 1000);
  expect(seconds).toStrictEqual([1, 2, 4, 32, 60, 60]);
});

test('a limit that names a minute is over after that minute', () => {
  const until = (now: string) =>
    new Date(limitUntilMs({ resetsAt: null, text: 'resets 2:56am (UTC)' }, at(now), 0, 0.5)).toISOString();
  expect(until('2026-11-16T01:00:00Z')).toBe('2026-11-16T02:57:00.000Z');
  expect(until('2026-11-16T02:56:30Z')).toBe('2026-11-16T02:57:00.000Z');
  expect(until('2026-11-16T02:57:10Z')).toBe('2026-11-16T02:57:11.000Z');
});

test('a limit without a time is probed with growing delays, but at least every hour', () => {
  const minutes = [0, 1, 2, 3, 4, 5, 50].map(
    (probes) => limitUntilMs({ resetsAt: null, text: '' }, 0, probes) / 60_000,
  );
  expect(minutes).toStrictEqual([5, 10, 20, 40, 60, 60, 60]);
});

test.each([
  ["You've hit your limit · resets 1pm", true],
  ["You've hit your session limit", true],
  ["You've hit your org's monthly spend limit", true],
  ["You're out of extra usage · resets 11:30am", true],
  ["You're out of usage credits", true],
  ['Claude AI usage limit reached|1', true],
  ['The file hit your editor', false],
  ['API Error: 500', false],
])('"%s" is a usage limit: %s', (text, tells) => {
  expect(isUsageLimitText(text)).toBe(tells);
});
