import { exitCodeOf } from '../../src/documents/run-document.ts';
import { answersWith, type FakeCall, fakePrompt, RESULT, refused } from './fake-prompt.ts';
import {
  describe,
  eventsOf,
  expect,
  expectStuck,
  type FinishedRun,
  failures,
  type Rig,
  resultOf,
  test,
} from './rig.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** A time that is known to the second gets a little of its own, so that not all runs continue in the same moment. */
const MAX_JITTER_MS = 10_000;
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

const limited = (text: string): FakeCall => refused(text, 'rate_limit', { api_error_status: 429 });

const event = (rate_limit_info: object): { line: object } => ({ line: { type: 'rate_limit_event', rate_limit_info } });

async function pausedByLimit(rig: Rig, act: FakeCall): Promise<FinishedRun> {
  const finished = await rig.run({ 'START.md': fakePrompt(act, RESULT) }, NO_WAIT);
  expectStuck(
    finished,
    'paused',
    /Claude's usage limit is reached: .*; nothing new is started, a resume after .* continues/,
  );
  expect(failures(finished)).toStrictEqual(['usage_limit']);
  expect(exitCodeOf(finished.run)).toBe(3);
  return finished;
}

const untilMsOf = ({ run: { stop } }: FinishedRun): number | null =>
  stop?.kind === 'usage_limit' ? stop.untilMs : null;

function expectJustAfterReset(ms: number | null | undefined): void {
  expect(ms).toBeGreaterThanOrEqual(resetsMs);
  expect(ms).toBeLessThanOrEqual(resetsMs + MAX_JITTER_MS);
}

describe.concurrent('a usage limit pauses a run that does not wait, and the message says when it ends', () => {
  test.for<[string, FakeCall]>([
    ['by the hour', limited(`You've hit your limit · resets ${hour} (Asia/Tokyo)`)],
    ['by the minute', limited(`You've hit your session limit · resets ${hourAndMinute} (Asia/Tokyo)`)],
    ['for extra usage', limited(`You're out of extra usage · resets ${hourAndMinute} (Asia/Tokyo)`)],
    ['by the day', limited(`You've hit your weekly limit · resets ${day} at ${hour} (Asia/Tokyo)`)],
  ])('%s', async ([, act], { rig }) => {
    const finished = await pausedByLimit(rig, act);
    expect(untilMsOf(finished)).toBe(resetsMs + MINUTE_MS);
    expect(resultOf(await rig.resume(finished))).toBe('done');
  });

  test.for<[string, FakeCall]>([
    [
      'as the event says, exactly',
      [
        event({ status: 'rejected', resetsAt, rateLimitType: 'five_hour', utilization: 1 }),
        ...limited("You've hit your limit · resets 1am (Asia/Tokyo)"),
      ],
    ],
    ['in seconds since 1970', limited(`Claude AI usage limit reached|${resetsAt}`)],
    [
      'even if only the words tell that it is one, and the exit code is 0',
      [{ init: {} }, { result: { is_error: true, result: `Claude AI usage limit reached|${resetsAt}` } }],
    ],
  ])('%s, to the second', async ([, act], { rig }) => {
    const finished = await pausedByLimit(rig, act);
    expectJustAfterReset(untilMsOf(finished));
    expect(resultOf(await rig.resume(finished))).toBe('done');
  });

  test('or when to try again, if the end is unknown', async ({ rig }) => {
    const finished = await rig.run(
      { 'START.md': fakePrompt(limited('You have hit your monthly spend limit')) },
      NO_WAIT,
    );
    const [stopping] = eventsOf(finished, 'run_stopping');
    expectStuck(finished, 'paused', /monthly spend limit/);
    expect(stopping?.stop).toMatchObject({ kind: 'usage_limit', untilMs: (stopping?.at ?? 0) + 5 * MINUTE_MS });
  });
});

test('a run that waits sleeps until the usage limit ends, which is not a retry', async ({ rig }) => {
  const act = limited(`Claude AI usage limit reached|${resetsAt}`);
  const finished = await rig.run(
    { 'START.md': fakePrompt(act, RESULT) },
    { retries: 0 },
    { onEvent: ({ kind }, running) => kind === 'sleeping' && running().stop() },
  );
  expectStuck(finished, 'paused', /Claude's usage limit is reached: .*; waiting until /);
  const sleeping = eventsOf(finished, 'sleeping');
  expect(sleeping).toMatchObject([{ why: 'usage_limit', count: 0 }]);
  expectJustAfterReset(sleeping[0]?.untilMs);
  expect(resultOf(await rig.resume(finished))).toBe('done');
});

test('a warning about a near limit stops nothing', async ({ rig }) => {
  const warning = event({ status: 'allowed_warning', resetsAt, utilization: 0.93 });
  const finished = await rig.run({ 'START.md': fakePrompt([warning, ...answersWith(RESULT)]) }, NO_WAIT);
  expect(resultOf(finished)).toBe('done');
});
