import { setTimeout as delay } from 'node:timers/promises';

/** Why a turn's process came to its end: by itself, or because we ended it. */
export type ProcessEndCause = 'itself' | 'timeout' | 'hung' | 'stopped';

/** A process that is waited for, and what may make us lose patience with it. */
export interface SupervisedProcess<Exit> {
  readonly exited: Promise<Exit>;
  /** When it was last heard of. */
  readonly lastOutputMs: () => Promise<number>;
  /** How long it may be silent; null for as long as it likes. */
  readonly timeoutMs: number | null;
  /** How long it may stay after its last word, and whether it has said it. */
  readonly grace: { readonly ms: number; readonly isDone: () => boolean } | null;
  /** Tells us to end it now. */
  readonly kill: AbortSignal;
  readonly terminate: () => Promise<unknown>;
}

const MAX_TICK_MS = 1_000;

/** Waits for a process, and ends it if it is silent for too long, will not leave, or is to be stopped. */
export async function supervise<Exit>(
  supervised: SupervisedProcess<Exit>,
): Promise<{ readonly exit: Exit; readonly endCause: ProcessEndCause }> {
  const finished = new AbortController();
  let stop: () => void = () => {};
  const stopped = new Promise<ProcessEndCause>((resolve) => {
    stop = () => resolve('stopped');
  });
  if (supervised.kill.aborted) stop();
  supervised.kill.addEventListener('abort', stop);
  try {
    const exitedByItself = supervised.exited.then((): ProcessEndCause => 'itself');
    const endCause = await Promise.race([exitedByItself, stopped, ...silenceChecks(supervised, finished.signal)]);
    if (endCause !== 'itself') await supervised.terminate();
    return { exit: await supervised.exited, endCause };
  } finally {
    supervised.kill.removeEventListener('abort', stop);
    finished.abort('over');
  }
}

/** Nobody looks where there is nothing to run out of. */
function silenceChecks<Exit>(
  supervised: SupervisedProcess<Exit>,
  finished: AbortSignal,
): readonly Promise<ProcessEndCause>[] {
  return supervised.timeoutMs === null && supervised.grace === null ? [] : [waitForSilence(supervised, finished)];
}

/**
 * Counts the silence in ticks of its own, not by the clock: a machine that slept, or we ourselves when stopped, are no
 * reason to end anybody.
 */
async function waitForSilence<Exit>(
  { lastOutputMs, timeoutMs, grace }: SupervisedProcess<Exit>,
  finished: AbortSignal,
): Promise<ProcessEndCause> {
  const shortestLimitMs = Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, grace?.ms ?? Number.POSITIVE_INFINITY);
  const tickMs = Math.min(MAX_TICK_MS, Math.max(10, shortestLimitMs / 4));
  let previousMs = await lastOutputMs();
  let silentMs = 0;
  for (;;) {
    await delay(tickMs, undefined, { signal: finished, ref: false }).catch(() => undefined);
    if (finished.aborted) return new Promise(() => {});
    const latestMs = await lastOutputMs();
    silentMs = latestMs === previousMs ? silentMs + tickMs : 0;
    previousMs = latestMs;
    const isDone = grace?.isDone() ?? false;
    if (isDone && grace !== null && silentMs >= grace.ms) return 'hung';
    if (!isDone && timeoutMs !== null && silentMs >= timeoutMs) return 'timeout';
  }
}
