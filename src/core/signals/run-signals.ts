import type { Step } from '../run/event.ts';
import { withQuota } from '../run/quota-hold.ts';
import type { Run } from '../run/run.ts';
import { strongerStop } from '../run/status.ts';
import type { Noticed, QuotaReported, Stopped } from './signal.ts';

/** Stops the run: no new turn is started, and running turns come to their end. */
export function handleStopped(run: Run, { at, by }: Stopped): Step {
  if (run.status !== 'running') return { run, events: [] };
  const stop = strongerStop(run.stop, { kind: by });
  return stop === run.stop
    ? { run, events: [] }
    : { run: { ...run, stop }, events: [{ kind: 'run_stopping', at, stop }] };
}

/** Puts a warning on record. Nothing else changes. */
export const handleNoticed = (run: Run, { at, about, message }: Noticed): Step => ({
  run,
  events: [{ kind: 'warning', at, agent: about.agent, state: about.state, message }],
});

/** Takes note of how full the windows of the subscription are. */
export const handleQuotaReported = (run: Run, { at, quota }: QuotaReported): Step => withQuota(run, quota, at);
