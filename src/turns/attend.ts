import { setTimeout as delay } from 'node:timers/promises';

/** Why a turn's process came to its end: by itself, or because we ended it. */
export type Ending = 'itself' | 'timeout' | 'hung' | 'stopped';

/** A process that is waited for, and what may make us lose patience with it. */
export interface Watch<Exit> {
  readonly exited: Promise<Exit>;
  /** When it was last heard of. */
  readonly lastHeard: () => Promise<number>;
  /** How long it may be silent; null for as long as it likes. */
  readonly timeoutMs: number | null;
  /** How long it may stay after its last word, and whether it has said it. */
  readonly grace: { readonly ms: number; readonly saidAll: () => boolean } | null;
  /** Tells us to end it now. */
  readonly kill: AbortSignal;
  readonly end: () => Promise<unknown>;
}

const LONGEST_TICK_MS = 1_000;

/** Waits for a process, and ends it if it is silent for too long, will not leave, or is to be stopped. */
export async function attend<Exit>(watch: Watch<Exit>): Promise<{ readonly exit: Exit; readonly ending: Ending }> {
  const over = new AbortController();
  let stop: () => void = () => {};
  const stopped = new Promise<Ending>((resolve) => {
    stop = () => resolve('stopped');
  });
  if (watch.kill.aborted) stop();
  watch.kill.addEventListener('abort', stop);
  try {
    const itself = watch.exited.then((): Ending => 'itself');
    const ending = await Promise.race([itself, stopped, ...silence(watch, over.signal)]);
    if (ending !== 'itself') await watch.end();
    return { exit: await watch.exited, ending };
  } finally {
    watch.kill.removeEventListener('abort', stop);
    over.abort('over');
  }
}

/** Nobody looks where there is nothing to run out of. */
function silence<Exit>(watch: Watch<Exit>, over: AbortSignal): readonly Promise<Ending>[] {
  return watch.timeoutMs === null && watch.grace === null ? [] : [runOut(watch, over)];
}

/**
 * Counts the silence in ticks of its own, not by the clock: a machine that slept, or we ourselves when stopped, are no
 * reason to end anybody.
 */
async function runOut<Exit>({ lastHeard, timeoutMs, grace }: Watch<Exit>, over: AbortSignal): Promise<Ending> {
  const shortest = Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, grace?.ms ?? Number.POSITIVE_INFINITY);
  const tickMs = Math.min(LONGEST_TICK_MS, Math.max(10, shortest / 4));
  let heardAt = await lastHeard();
  let silentMs = 0;
  for (;;) {
    await delay(tickMs, undefined, { signal: over, ref: false }).catch(() => undefined);
    if (over.aborted) return new Promise(() => {});
    const now = await lastHeard();
    silentMs = now === heardAt ? silentMs + tickMs : 0;
    heardAt = now;
    const saidAll = grace?.saidAll() ?? false;
    if (saidAll && grace !== null && silentMs >= grace.ms) return 'hung';
    if (!saidAll && timeoutMs !== null && silentMs >= timeoutMs) return 'timeout';
  }
}
