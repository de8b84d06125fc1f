import { setTimeout as delay } from 'node:timers/promises';

/** How long a process may be silent. */
export interface SilenceLimits {
  /** Null for no limit. */
  readonly timeoutMs: number | null;
  /** How long it may stay after its result, and whether it has given that. */
  readonly grace: { readonly ms: number; readonly isDone: () => boolean } | null;
  /** Aborted when it only tries again what cannot succeed. */
  readonly hopeless?: AbortSignal;
  /** Aborted when it has cost as much as it may. */
  readonly overspent?: AbortSignal;
}

/**
 * Why a process ended: it exited by itself, or was ended because it was silent for too long (`timeout`), did not exit
 * after its result (`hung`), tried what cannot succeed (`hopeless`), cost as much as it may (`overspent`) or was to be stopped.
 */
export type ProcessEndCause = 'exited' | 'timeout' | 'hung' | 'hopeless' | 'overspent' | 'stopped';

/** A process that is waited for, and the reasons to end it. */
export interface SupervisedProcess<Exit> extends SilenceLimits {
  readonly exited: Promise<Exit>;
  /** The time of its last output. */
  readonly lastOutputMs: () => Promise<number>;
  /** Aborted when it is to be ended. */
  readonly kill: AbortSignal;
  readonly terminate: () => Promise<unknown>;
}

const MAX_TICK_MS = 1_000;

/**
 * Waits for a process, and ends it if it is silent for too long, does not exit after its result, or is to be stopped.
 */
export async function supervise<Exit>(
  supervised: SupervisedProcess<Exit>,
): Promise<{ readonly exit: Exit; readonly endCause: ProcessEndCause }> {
  const finished = new AbortController();
  const { kill, hopeless, overspent } = supervised;
  try {
    const exitedByItself = supervised.exited.then((): ProcessEndCause => 'exited');
    const endCause = await Promise.race([
      exitedByItself,
      waitForAbort(kill, finished.signal, 'stopped'),
      ...(hopeless === undefined ? [] : [waitForAbort(hopeless, finished.signal, 'hopeless')]),
      ...(overspent === undefined ? [] : [waitForAbort(overspent, finished.signal, 'overspent')]),
      ...silenceChecks(supervised, finished.signal),
    ]);
    if (endCause !== 'exited') await supervised.terminate();
    return { exit: await supervised.exited, endCause };
  } finally {
    finished.abort('over');
  }
}

/** Resolves when the signal is aborted, with this cause; no longer listens once it is finished. */
const waitForAbort = (signal: AbortSignal, finished: AbortSignal, cause: ProcessEndCause): Promise<ProcessEndCause> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(cause);
    else signal.addEventListener('abort', () => resolve(cause), { once: true, signal: finished });
  });

/** Without a limit there is nothing to check. */
function silenceChecks<Exit>(
  supervised: SupervisedProcess<Exit>,
  finished: AbortSignal,
): readonly Promise<ProcessEndCause>[] {
  return supervised.timeoutMs === null && supervised.grace === null ? [] : [waitForSilence(supervised, finished)];
}

/** Counts the silence in ticks of its own, not by the clock: a machine that slept is no reason to end a process. */
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
