import fc from 'fast-check';
import { expect, test } from 'vitest';
import { VirtualTime } from '../../src/testing/virtual-time.ts';

const NOBODY = new AbortController().signal;
const HOUR = 3_600_000;

/** Lets everything happen that can. */
const breathe = async (): Promise<void> => {
  for (let i = 0; i < 5; i += 1) await new Promise(setImmediate);
};

test('sleepers are woken immediately, in the order of their times', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 20 }), async (hours) => {
      const time = new VirtualTime();
      const start = time.now();
      const woken: number[] = [];
      const sleep = (each: number): Promise<unknown> =>
        time.whileRunning(() => time.sleepUntil(start + each * HOUR, NOBODY).then(() => woken.push(each)));
      await Promise.all(hours.map(sleep));
      expect(woken).toStrictEqual(hours.toSorted((a, b) => a - b));
      expect(time.now()).toBeGreaterThanOrEqual(start + Math.max(0, ...hours) * HOUR);
    }),
    { numRuns: 30 },
  );
});

test('no time passes while something is running', async () => {
  const time = new VirtualTime();
  let finish = (): void => {};
  const work = time.whileRunning(() => new Promise<void>((done) => (finish = done)));
  const told: string[] = [];
  const sleep = time.whileRunning(() => time.sleepUntil(time.now() + HOUR, NOBODY).then(() => told.push('woken')));
  await breathe();
  expect(told).toStrictEqual([]);
  finish();
  await Promise.all([work, sleep]);
  expect(told).toStrictEqual(['woken']);
});

test('a sleep that starts when another ends comes before longer ones', async () => {
  const time = new VirtualTime();
  const start = time.now();
  const told: string[] = [];
  const sleep = (until: number, name: string): Promise<unknown> =>
    time.whileRunning(() => time.sleepUntil(start + until, NOBODY).then(() => told.push(name)));
  const first = sleep(HOUR, 'first').then(() => sleep(2 * HOUR, 'its child'));
  await Promise.all([first, sleep(3 * HOUR, 'last')]);
  expect(told).toStrictEqual(['first', 'its child', 'last']);
});

test('a sleep that is aborted takes no time', async () => {
  const time = new VirtualTime();
  const stop = new AbortController();
  const hold = time.whileRunning(() => new Promise(() => {}));
  const slept = time.whileRunning(() => time.sleepUntil(time.now() + HOUR, stop.signal));
  stop.abort();
  expect(await slept).toBe(false);
  expect(await time.sleepUntil(time.now() + HOUR, stop.signal)).toBe(false);
  expect(hold).toBeInstanceOf(Promise);
});

test('no sleeper is woken after a stop', async () => {
  const time = new VirtualTime();
  let isWoken = false;
  const wake = (): void => {
    isWoken = true;
  };
  time.whileRunning(() => time.sleepUntil(time.now() + 1, NOBODY)).then(wake);
  time.stop();
  time.sleepUntil(time.now() - 1, NOBODY).then(wake);
  await breathe();
  expect(isWoken).toBe(false);
});

test('continues from an earlier time', () => {
  expect(new VirtualTime(HOUR).now()).toBeGreaterThanOrEqual(Date.now() + HOUR - 1000);
  expect(new VirtualTime(HOUR).ahead).toBe(HOUR);
});
