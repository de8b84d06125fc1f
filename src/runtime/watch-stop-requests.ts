import type { StopStage } from '../store/stop-request.ts';
import type { RunStore } from '../store/store.ts';

/** A look takes microseconds, and unlike notifications of changes it works on every file system. */
const STOP_POLL_INTERVAL_MS = 250;

/**
 * Does what somebody elsewhere asks of a run that is under way here, until the function that is returned is called.
 * The timer keeps this process alive, which nothing else does while a script runs: its end is its own, not ours.
 */
export function watchStopRequests(store: RunStore, onStop: (stage: StopStage) => void): () => void {
  let handled: StopStage | null = null;
  const timer = setInterval(() => {
    const requested = store.requestedStop();
    if (requested === null || requested === handled) return;
    handled = requested;
    onStop(requested);
  }, STOP_POLL_INTERVAL_MS);
  return () => clearInterval(timer);
}
