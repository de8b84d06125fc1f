import { exitCodeOf } from '../../src/events/run-document.ts';
import { type Act, play, RESULT, refused, says } from './play.ts';
import { describe, expect, expectStuck, failures, resultOf, test, told } from './rig.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const NO_WAIT = { wait: false };

/** A full hour, two to three hours from now: the texts tell no seconds. */
const resetsMs = (Math.floor(Date.now() / HOUR_MS) + 3) * HOUR_MS;
const resetsAt = resetsMs / 1000;

const inTokyo = (format: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat('en-US', { timeZone: 'Asia/Tokyo', ...format }).format(resetsMs);
/** `3pm`, `3:00pm`, `Sep 14`. */
const hour = inTokyo({ hour: 'numeric', hour12: true }).replace(/\s/g, '').toLowerCase();
const hourAndMinute = hour.replace(/(?=[ap]m)/, ':00');
const day = inTokyo({ month: 'short', day: 'numeric' });

const limited = (text: string): Act => refused(text, 'rate_limit', { api_error_status: 429 });

const event = (rate_limit_info: object): { line: object } => ({ line: { type: 'rate_limit_event', rate_limit_info } });

describe.concurrent('a usage limit pauses a run that does not wait, and says when it ends', () => {
  test.for<[string, Act]>([
    [
      'as the event says, exactly',
      [
        event({ status: 'rejected', resetsAt, rateLimitType: 'five_hour', utilization: 1 }),
        ...limited("You've hit your limit · resets 1am (Asia/Tokyo)"),
      ],
    ],
    ['by the hour', limited(`You've hit your limit · resets ${hour} (Asia/Tokyo)`)],
    ['by the minute', limited(`You've hit your session limit · resets ${hourAndMinute} (Asia/Tokyo)`)],
    ['for extra usage', limited(`You're out of extra usage · resets ${hourAndMinute} (Asia/Tokyo)`)],
    ['by the day', limited(`You've hit your weekly limit · resets ${day} at ${hour} (Asia/Tokyo)`)],
    ['in seconds since 1970', limited(`Claude AI usage limit reached|${resetsAt}`)],
    [
      'even if only the words tell that it is one, and the exit code is 0',
      [{ init: {} }, { result: { is_error: true, result: `Claude AI usage limit reached|${resetsAt}` } }],
    ],
  ])('%s', async ([, act], { rig }) => {
    const played = await rig.play({ 'START.md': play(act, RESULT) }, NO_WAIT);
    expectStuck(
      played,
      'paused',
      /Claude's usage limit is reached: .*; nothing new is started, a resume after .* goes on/,
    );
    expect(failures(played)).toStrictEqual(['usage_limit']);
    expect(played.run.stop).toMatchObject({ kind: 'usage_limit', untilMs: resetsMs + MINUTE_MS });
    expect(exitCodeOf(played.run)).toBe(3);
    expect(resultOf(await rig.resume(played))).toBe('done');
  });

  test('or when it is worth a try, if nobody knows', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play(limited('You have hit your monthly spend limit')) }, NO_WAIT);
    const [stopping] = told(played, 'run_stopping');
    expectStuck(played, 'paused', /monthly spend limit/);
    expect(stopping?.stop).toMatchObject({ kind: 'usage_limit', untilMs: (stopping?.at ?? 0) + 5 * MINUTE_MS });
  });
});

test('a usage limit is slept through by a run that waits, without counting as a retry', async ({ rig }) => {
  const act = limited(`Claude AI usage limit reached|${resetsAt}`);
  const played = await rig.play(
    { 'START.md': play(act, RESULT) },
    { retries: 0 },
    { onEvent: ({ kind }, running) => kind === 'sleeping' && running().stop() },
  );
  expectStuck(played, 'paused', /Claude's usage limit is reached: .*; waiting until /);
  expect(told(played, 'sleeping')).toMatchObject([{ why: 'usage_limit', untilMs: resetsMs + MINUTE_MS, count: 0 }]);
  expect(resultOf(await rig.resume(played))).toBe('done');
});

test('a warning that a limit is near stops nothing', async ({ rig }) => {
  const warning = event({ status: 'allowed_warning', resetsAt, utilization: 0.93 });
  const played = await rig.play({ 'START.md': play([warning, ...says(RESULT)]) }, NO_WAIT);
  expect(resultOf(played)).toBe('done');
});
