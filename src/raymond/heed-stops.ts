import type { StopStage } from '../store/stop-request.ts';
import type { Store } from '../store/store.ts';

/** A look takes microseconds, and unlike notifications of changes it works on every file system. */
const LOOK_EVERY_MS = 250;

/**
 * Does what somebody elsewhere asks of a run that is under way here, until the function that is returned is called.
 * The timer keeps this process alive, which nothing else does while a script runs: its end is its own, not ours.
 */
export function heedStops(store: Store, obey: (stage: StopStage) => void): () => void {
  let heeded: StopStage | null = null;
  const timer = setInterval(() => {
    const asked = store.stopAsked();
    if (asked === null || asked === heeded) return;
    heeded = asked;
    obey(asked);
  }, LOOK_EVERY_MS);
  return () => clearInterval(timer);
}
