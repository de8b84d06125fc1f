import { describe, expect, test } from 'vitest';
import { type SupervisedProcess, supervise } from '../../src/turns/supervise.ts';

/** A process on paper: it exits when it is ended, or when the test says so. */
function fakeProcess(
  more: Partial<SupervisedProcess<string>> = {},
): SupervisedProcess<string> & { exit: (how: string) => void } {
  let exit: (how: string) => void = () => {};
  const exited = new Promise<string>((resolve) => {
    exit = resolve;
  });
  const end = async () => exit('ended');
  const kill = new AbortController().signal;
  return { exited, lastOutputMs: async () => 0, timeoutMs: null, grace: null, kill, terminate: end, exit, ...more };
}

describe('supervise', () => {
  test('waits for a process that ends by itself', async () => {
    const watch = fakeProcess({ timeoutMs: 600_000 });
    watch.exit('done');
    expect(await supervise(watch)).toStrictEqual({ exit: 'done', endCause: 'exited' });
  });

  test('ends a process that is silent for too long', async () => {
    expect(await supervise(fakeProcess({ timeoutMs: 40 }))).toStrictEqual({ exit: 'ended', endCause: 'timeout' });
  });

  test('does not end a process as long as it is active', async () => {
    let looks = 0;
    const watch = fakeProcess({
      timeoutMs: 40,
      lastOutputMs: async () => {
        looks++;
        if (looks === 30) watch.exit('done');
        return looks;
      },
    });
    expect(await supervise(watch)).toStrictEqual({ exit: 'done', endCause: 'exited' });
  });

  test('ends a process that does not exit after its result, regardless of its timeout', async () => {
    const watch = fakeProcess({ timeoutMs: 600_000, grace: { ms: 40, isDone: () => true } });
    expect(await supervise(watch)).toStrictEqual({ exit: 'ended', endCause: 'hung' });
  });

  test('ends a process on request, even if the request came first', async () => {
    const kill = new AbortController();
    const waiting = supervise(fakeProcess({ kill: kill.signal }));
    kill.abort();
    expect(await waiting).toStrictEqual({ exit: 'ended', endCause: 'stopped' });
    expect(await supervise(fakeProcess({ kill: kill.signal }))).toStrictEqual({ exit: 'ended', endCause: 'stopped' });
  });
});
