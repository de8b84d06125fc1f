import type { Step } from '../event.ts';
import { stronger } from '../outcome.ts';
import type { Run } from '../run.ts';
import type { Stopped } from '../signal.ts';

/** Starts nothing new from here on; turns under way come to their end. */
export function stopped(run: Run, { at, by }: Stopped): Step {
  if (run.status !== 'running') return { run, events: [] };
  const stop = { kind: by } as const;
  return { run: { ...run, stop: stronger(run.stop, stop) }, events: [{ kind: 'run_stopping', at, stop }] };
}
