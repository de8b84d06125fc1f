import { setTimeout as delay } from 'node:timers/promises';
import { type FolderLayout, findLayout } from '../disk/layout.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { createFileInbox } from '../storage/files/inbox.ts';
import { observeRun } from '../storage/files/observed-run.ts';
import { type Owner, ownerOf } from '../storage/files/owner.ts';
import { resolveRunId } from '../storage/files/runs.ts';
import { type StopMode, stopIdOf } from '../storage/requests.ts';
import type { ObservedRun } from '../storage/run-summary.ts';
import type { RunInbox } from '../storage/storage.ts';
import { describeAnswerer } from '../wiring/request-handler.ts';
import type { RunEnvironment } from '../wiring/run-handle.ts';
import { resumeRun } from './resume.ts';

/** How to stop a run. */
export interface StopRequest extends Pick<RunEnvironment, 'cwd' | 'env'> {
  /** Ends the running turns, too. So does a second request. */
  readonly now?: boolean;
  /** Called when the run is stopping, and if its process, which may be suspended, does not respond. */
  readonly observe?: (progress: StopProgress) => void;
  /** Ends the wait; the run keeps stopping. */
  readonly signal?: AbortSignal;
}

/** The progress of a stop: the run starts nothing new (`stopping`), or its process does not respond (`not_responding`). */
export interface StopProgress {
  readonly kind: 'stopping' | 'not_responding';
  readonly observed: ObservedRun;
  readonly mode: StopMode;
}

/**
 * The run after a stop. `idle`: no process drove it. `stopping`: the wait was ended before the run had stopped.
 * `not_stopped`: likewise, but no other process keeps stopping it.
 */
export interface StopOutcome {
  readonly kind: 'idle' | 'stopped' | 'stopping' | 'not_stopped';
  readonly observed: ObservedRun;
}

const POLL_INTERVAL_MS = 150;
const ACKNOWLEDGE_WITHIN_MS = 3_000;

/**
 * Stops a run that another process drives and waits until that has released it. A run whose process is gone is resumed
 * here to be stopped: its turns may still be running.
 */
export async function stopRun(runRef: string, request: StopRequest = {}): Promise<StopOutcome> {
  const layout = findLayout(request.cwd);
  const id = await resolveRunId(layout, runRef);
  const observed = await observeRun(layout, id);
  if (observed.run.status !== 'running') return { kind: 'idle', observed };
  const kind =
    observed.observedStatus === 'crashed'
      ? await resumeToStop(observed, request)
      : await stopOwner(layout, observed, request);
  return { kind, observed: kind === 'not_stopped' ? observed : await observeRun(layout, id) };
}

async function stopOwner(
  layout: FolderLayout,
  observed: ObservedRun,
  request: StopRequest,
): Promise<StopOutcome['kind']> {
  const { now = false, observe, signal, env = process.env } = request;
  const { id } = observed.run;
  const folder = layout.runFolder(id);
  const owner = await ownerOf(folder);
  if (owner === undefined) return 'stopped';
  const leaseId = stoppableLeaseId(owner, id);
  const inbox = createFileInbox(layout);
  const mode = await requestStop(inbox, id, { lease: leaseId, now, by: describeAnswerer(env), at: Date.now() });
  if (mode === 'now') observe?.({ kind: 'stopping', observed, mode });
  let isAcknowledged = false;
  let isReportedLate = false;
  for (let waitedMs = 0; ; waitedMs += POLL_INTERVAL_MS) {
    const currentOwner = await ownerOf(folder);
    if (currentOwner?.leaseId !== leaseId || currentOwner.state !== 'alive') {
      await inbox.withdraw(id, stopIdOf(mode, leaseId));
      return 'stopped';
    }
    if (signal?.aborted) return 'stopping';
    if (!isAcknowledged) {
      const latest = await observeRun(layout, id);
      isAcknowledged = latest.observedStatus !== 'running';
      if (latest.observedStatus === 'stopping' && mode === 'soon')
        observe?.({ kind: 'stopping', observed: latest, mode });
      if (!isAcknowledged && !isReportedLate && waitedMs >= ACKNOWLEDGE_WITHIN_MS) {
        isReportedLate = true;
        observe?.({ kind: 'not_responding', observed, mode });
      }
    }
    await delay(POLL_INTERVAL_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}

/** A stop that is to be requested of the process with this lease. */
interface WantedStop {
  readonly lease: string;
  readonly now: boolean;
  readonly by: string;
  readonly at: number;
}

/** Requests a stop of a run; returns its mode: a second request ends the running turns, too. */
export async function requestStop(inbox: RunInbox, run: string, { lease, now, by, at }: WantedStop): Promise<StopMode> {
  const put = (mode: StopMode): Promise<boolean> =>
    inbox.put(run, { kind: 'stop', id: stopIdOf(mode, lease), by, at, mode, lease });
  if (!now && (await put('soon'))) return 'soon';
  await put('now');
  return 'now';
}

/** The id under which the owner can be asked to stop; throws if it cannot be asked. */
function stoppableLeaseId({ state, facts, leaseId, readsInbox }: Owner, id: string): string {
  if (state === 'alive' && leaseId !== null && readsInbox) return leaseId;
  if (facts === undefined) {
    throw new RaymondError(`It is unknown which process drives the run ${id}: the file that says so cannot be read.`, {
      exitCode: EXIT.usage,
      hint: `If none does any more, \`raymond resume ${id} --take-over\` continues with it.`,
    });
  }
  if (state === 'alive') {
    throw new RaymondError(`The run ${id} is driven by process ${facts.pid}, which cannot be asked to stop.`, {
      exitCode: EXIT.usage,
      hint: `It is an older Raymond. Press Ctrl-C there, or \`kill ${facts.pid}\`.`,
    });
  }
  throw new RaymondError(
    `The run ${id} is driven by process ${facts.pid} on ${facts.host}, which cannot be checked from here.`,
    {
      exitCode: EXIT.usage,
      hint: `Stop it there: \`raymond stop ${id}\`. If that process is gone: \`raymond resume ${id} --take-over\`.`,
    },
  );
}

/** Resumes a crashed run only to wait for its running turns, or to end them. */
async function resumeToStop(observed: ObservedRun, request: StopRequest): Promise<StopOutcome['kind']> {
  const { now = false, observe, signal, ...environment } = request;
  const handle = await resumeRun(observed.run.id, environment);
  if (now) handle.kill();
  else handle.stop();
  observe?.({ kind: 'stopping', observed, mode: now ? 'now' : 'soon' });
  const aborted = new Promise<'not_stopped'>((resolve) => {
    signal?.addEventListener('abort', () => resolve('not_stopped'));
  });
  return Promise.race([handle.finished.then(() => 'stopped' as const), aborted]);
}
