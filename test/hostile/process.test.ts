import { answersWith, fakePrompt, INIT, RESULT, state } from './fake-prompt.ts';
import {
  argument,
  type Call,
  describe,
  eventsOf,
  expect,
  expectStuck,
  type FinishedRun,
  failures,
  logOf,
  resultOf,
  test,
} from './rig.ts';

const IMPATIENT = 'timeout: 1';
/** Enough for a start on a busy machine; what comes in between is longer in all. */
const PATIENT = 'timeout: 2';
const HANG = { hang: true };
const PART = { assistant: { text: 'I will look into it.' } };
const DEAF_CHILD = { child: { ownSession: true, deaf: true } };

const prompts = (finished: FinishedRun): readonly string[] =>
  eventsOf(finished, 'turn_started').map(({ prompt }) => prompt);

describe.concurrent('a process that does not exit', () => {
  test('has answered if its result was read', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': state(IMPATIENT, fakePrompt([...answersWith(RESULT), HANG])) });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual([null]);
    expect(rig.left()).toStrictEqual([]);
  });

  test('is killed with its children if it keeps printing and ignores SIGTERM', async ({ rig }) => {
    const stubborn = [{ deaf: true }, DEAF_CHILD, ...answersWith(RESULT), { mutter: { everyMs: 200 } }];
    const finished = await rig.run({ 'START.md': state(IMPATIENT, fakePrompt(stubborn)) });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual([null]);
    expect(rig.left()).toStrictEqual([]);
  });

  test('has failed if the result is an error', async ({ rig }) => {
    const failed = { result: { is_error: true, result: 'API Error: 500' } };
    const finished = await rig.run({ 'START.md': state(IMPATIENT, fakePrompt([INIT, failed, HANG])) }, { retries: 0 });
    expectStuck(finished, 'failed', /API Error: 500/);
    expect(rig.left()).toStrictEqual([]);
  });
});

describe.concurrent('a process that stops printing', () => {
  test('before any answer gets the same prompt again in its session', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': state(IMPATIENT, fakePrompt([INIT, HANG], RESULT)) });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual(['timeout', null]);
    expect(prompts(finished)).toStrictEqual(['state', 'state']);
    const [first, second] = finished.calls as [Call, Call];
    expect(argument(second, '--resume')).toBe(argument(first, '--session-id'));
    expect(logOf(finished)).toMatch(
      /no output for 1 s, the limit set by `timeout` in START\.md\. A longer `timeout` gives it more time; tried again in/,
    );
  });

  test('in the middle of an answer is asked to continue in its session', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': state(IMPATIENT, fakePrompt([INIT, PART, HANG], RESULT)) });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual(['timeout', null]);
    expect(prompts(finished)).toStrictEqual(['state', 'continue']);
    const [first, second] = finished.calls as [Call, Call];
    expect(argument(second, '--resume')).toBe(argument(first, '--session-id'));
    expect(second.prompt).toMatch(/^You were interrupted/);
  });

  test('without any output gets a new session', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': state(IMPATIENT, fakePrompt([HANG], RESULT)) });
    expect(resultOf(finished)).toBe('done');
    const [first, second] = finished.calls as [Call, Call];
    expect(argument(second, '--session-id')).not.toBe(argument(first, '--session-id'));
    expect(second.args).not.toContain('--resume');
  });

  test('because it was suspended is ended, too', async ({ rig }) => {
    const stopped = [INIT, { die: 'SIGSTOP' }];
    const finished = await rig.run({ 'START.md': state(IMPATIENT, fakePrompt(stopped)) }, { retries: 0 });
    expectStuck(finished, 'failed', /failed: START\.md: .*no output for 1 s/);
    expect(rig.left()).toStrictEqual([]);
  });

  test('while it ignores SIGTERM is killed, with children in their own sessions that ignore it, too', async ({
    rig,
  }) => {
    const deaf = [INIT, { deaf: true }, DEAF_CHILD, HANG];
    const finished = await rig.run({ 'START.md': state(IMPATIENT, fakePrompt(deaf)) }, { retries: 0 });
    expectStuck(finished, 'failed', /no output for/);
    expect(failures(finished)).toStrictEqual(['timeout']);
    expect(rig.left()).toStrictEqual([]);
  });
});

describe.concurrent('a slow process is not ended', () => {
  test('as long as it prints a byte now and then', async ({ rig }) => {
    const drip = { drip: { text: '.'.repeat(60), everyMs: 50 } };
    const finished = await rig.run({
      'START.md': state(PATIENT, fakePrompt([INIT, drip, { raw: '\n' }, ...answersWith(RESULT)])),
    });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual([null]);
  });

  test('as long as it reports that it retries', async ({ rig }) => {
    const retries = { retry: { times: 6, everyMs: 500 } };
    const finished = await rig.run({ 'START.md': state(PATIENT, fakePrompt([INIT, retries, ...answersWith(RESULT)])) });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual([null]);
  });
});

describe.concurrent('a process with background children', () => {
  test('ends its turn although they hold its output open, and they survive: they may be intended', async ({ rig }) => {
    const finished = await rig.run({
      'START.md': fakePrompt([{ child: { ownSession: true } }, ...answersWith(RESULT)]),
    });
    expect(resultOf(finished)).toBe('done');
    expect(rig.left().length).toBeGreaterThan(0);
    rig.endLeft();
  });

  test('takes them along if it fails', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([DEAF_CHILD, INIT, { exit: 1 }]) }, { retries: 0 });
    expectStuck(finished, 'failed', /exit code 1/);
    expect(rig.left()).toStrictEqual([]);
  });

  test('has none left by the time its session is used again, if it is killed', async ({ rig }) => {
    const killed = [INIT, PART, { child: { ownSession: true } }, { die: 'SIGKILL' }];
    let leftWhenAsleep: readonly number[] | undefined;
    const finished = await rig.run(
      { 'START.md': fakePrompt(killed, RESULT) },
      {},
      {
        onEvent(event) {
          if (event.kind === 'sleeping') leftWhenAsleep = rig.left();
        },
      },
    );
    expect(leftWhenAsleep).toStrictEqual([]);
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual(['transient', null]);
    expect(prompts(finished)).toStrictEqual(['state', 'continue']);
    expect(logOf(finished)).toMatch(/Claude Code was killed without a result.*; tried again in/);
  });
});

describe.concurrent('a killed process', () => {
  test('is retried if its wrapper was killed, too', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([INIT, PART, { dieTogether: true }], RESULT) });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual(['transient', null]);
  });

  test('has answered if its result was read', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': fakePrompt([...answersWith(RESULT), { die: 'SIGKILL' }]) });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual([null]);
  });

  test('leaves nothing behind if the user killed it, and continues when it is resumed', async ({ rig }) => {
    const busy = [INIT, PART, { deaf: true }, DEAF_CHILD, { mark: 'busy' }, HANG];
    const finished = await rig.run(
      { 'START.md': fakePrompt(busy, RESULT) },
      {},
      {
        onEvent: ({ kind }, running) => {
          if (kind === 'turn_started') rig.onceMarked('busy', () => running().kill());
        },
      },
    );
    expectStuck(finished, 'paused', /the run was told to stop/);
    expect(rig.left()).toStrictEqual([]);
    const resumed = await rig.resume(finished);
    expect(resultOf(resumed)).toBe('done');
    expect(prompts(resumed)).toStrictEqual(['continue']);
  });
});
