import { setTimeout as delay } from 'node:timers/promises';
import { EXIT, RaymondError } from '../errors.ts';
import { findRaymondFolder, type Layout, layoutOf } from '../store/layout.ts';
import { type Owner, ownerOf } from '../store/owner.ts';
import { findRun } from '../store/runs.ts';
import { lookAt, type Seen } from '../store/standing.ts';
import { askToStop, type StopStage } from '../store/stop-request.ts';
import { resumeRun } from './resume.ts';
import type { Place } from './running.ts';

export interface StopRequest extends Pick<Place, 'cwd' | 'env'> {
  /** Ends the turns under way, too. So does a second request. */
  readonly now?: boolean;
  /** Told when the run is stopping and waited for, and if its process, suspended perhaps, does not respond. */
  readonly observe?: (waiting: StopWaiting) => void;
  /** Ends the waiting; the run goes on stopping. */
  readonly signal?: AbortSignal;
}

/** A run that is waited for. From `stopping` on it starts nothing new. */
export interface StopWaiting {
  readonly kind: 'stopping' | 'unheard';
  readonly seen: Seen;
  readonly stage: StopStage;
}

/**
 * The run as it stands in the end. `idle`: nobody drove it before. `stopping`: it was not waited for any longer.
 * `left`: likewise, but it has no process of its own that could go on stopping it.
 */
export interface StopOutcome {
  readonly kind: 'idle' | 'stopped' | 'stopping' | 'left';
  readonly seen: Seen;
}

const LOOK_EVERY_MS = 150;
const SHOULD_HEAR_WITHIN_MS = 3_000;

/**
 * Stops a run that lives in another process and waits until that process has let go of it. A run whose process is gone
 * is taken up here to be stopped: its turns may still be under way.
 */
export async function stopRun(wanted: string, request: StopRequest = {}): Promise<StopOutcome> {
  const layout = layoutOf(findRaymondFolder(request.cwd ?? process.cwd()));
  const id = await findRun(layout, wanted);
  const seen = await lookAt(layout, id);
  if (seen.run.status !== 'running') return { kind: 'idle', seen };
  const kind = seen.standing === 'crashed' ? await takeUpToStop(seen, request) : await askOwner(layout, seen, request);
  return { kind, seen: kind === 'left' ? seen : await lookAt(layout, id) };
}

async function askOwner(layout: Layout, seen: Seen, request: StopRequest): Promise<StopOutcome['kind']> {
  const { now = false, observe, signal } = request;
  const { id } = seen.run;
  const folder = layout.run(id);
  const owner = await ownerOf(folder);
  if (owner === undefined) return 'stopped';
  const life = lifeOf(owner, id);
  const stage = now || !(await askToStop(folder, life, 'soon')) ? 'now' : 'soon';
  if (stage === 'now') {
    await askToStop(folder, life, 'now');
    observe?.({ kind: 'stopping', seen, stage });
  }
  let isHeard = false;
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const present = await ownerOf(folder);
    if (present?.life !== life || present.state !== 'alive') return 'stopped';
    if (signal?.aborted) return 'stopping';
    if (!isHeard) {
      const look = await lookAt(layout, id);
      isHeard = look.standing !== 'running';
      if (look.standing === 'stopping' && stage === 'soon') observe?.({ kind: 'stopping', seen: look, stage });
      const isLate = waitedMs <= SHOULD_HEAR_WITHIN_MS && waitedMs + LOOK_EVERY_MS > SHOULD_HEAR_WITHIN_MS;
      if (!isHeard && isLate) observe?.({ kind: 'unheard', seen, stage });
    }
    await delay(LOOK_EVERY_MS, undefined, { ...(signal && { signal }) }).catch(() => {});
  }
}

/** The life of a run that can be asked to end, because its owner is seen alive. */
function lifeOf({ state, facts, life }: Owner, id: string): string {
  if (state === 'alive' && life !== null) return life;
  if (facts === undefined) {
    throw new RaymondError(`Nobody knows who drives the run ${id}: the file that says so cannot be read.`, {
      exitCode: EXIT.usage,
      hint: `If nobody does any more, \`raymond resume ${id} --take-over\` goes on with it.`,
    });
  }
  if (state === 'alive') {
    throw new RaymondError(`The run ${id} is driven by process ${facts.pid}, which cannot be asked to stop.`, {
      exitCode: EXIT.usage,
      hint: `It is an older Raymond. Press Ctrl-C there, or \`kill ${facts.pid}\`.`,
    });
  }
  throw new RaymondError(`The run ${id} is driven by process ${facts.pid} on ${facts.host}, out of our sight.`, {
    exitCode: EXIT.usage,
    hint: `Stop it there: \`raymond stop ${id}\`. If that process is no more: \`raymond resume ${id} --take-over\`.`,
  });
}

/** Nothing new is started: what is still under way is waited for, or ended. */
async function takeUpToStop(seen: Seen, request: StopRequest): Promise<StopOutcome['kind']> {
  const { now = false, observe, signal, ...place } = request;
  const running = await resumeRun(seen.run.id, place);
  if (now) running.kill();
  else running.stop();
  observe?.({ kind: 'stopping', seen, stage: now ? 'now' : 'soon' });
  const patience = new Promise<'left'>((left) => signal?.addEventListener('abort', () => left('left')));
  return Promise.race([running.finished.then(() => 'stopped' as const), patience]);
}
