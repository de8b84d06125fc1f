import type { Step } from '../run/event.ts';
import type { Run } from '../run/run.ts';
import { strongerStop } from '../run/status.ts';
import type { Stopped } from './signal.ts';

/** Stops the run: no new turn is started, and running turns come to their end. */
export function handleStopped(run: Run, { at, by }: Stopped): Step {
  if (run.status !== 'running') return { run, events: [] };
  const stop = strongerStop(run.stop, { kind: by });
  return stop === run.stop
    ? { run, events: [] }
    : { run: { ...run, stop }, events: [{ kind: 'run_stopping', at, stop }] };
}
