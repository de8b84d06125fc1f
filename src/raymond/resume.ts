import { changedOptions, type Options, type Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import { canResume } from '../core/signals/resumed.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { findRaymondFolder, layoutOf } from '../store/layout.ts';
import { findRun } from '../store/runs.ts';
import { openStore } from '../store/store.ts';
import { endedRun, type Place, type Running, setOff } from './running.ts';
import { IN_EARNEST, type Staging } from './staging.ts';

export interface ResumeRequest extends Place {
  /** Options that are to be different from now on. */
  readonly options?: Partial<Options>;
  /** Takes up failed agents again, and scripts that died midway. */
  readonly retry?: boolean;
  /** Takes the run from an owner on another machine that cannot be asked. */
  readonly takeOver?: boolean;
}

/** Goes on with a run that was paused, stopped, interrupted or killed. An ended one is given back as it is. */
export const resumeRun = (id: string, request: ResumeRequest = {}): Promise<Running> =>
  takeUpRun(id, request, IN_EARNEST);

/** Goes on with a run, in earnest or as a rehearsal. */
export async function takeUpRun(id: string, request: ResumeRequest, staging: Staging): Promise<Running> {
  const layout = layoutOf(findRaymondFolder(request.cwd ?? process.cwd()));
  const { run, store } = await openStore(layout, await findRun(layout, id), {
    ...staging.store,
    takeOver: request.takeOver ?? false,
  });
  const { retry = false, options: changes = {}, env = process.env } = request;
  try {
    if (!canResume(run, retry)) {
      await store.close();
      return endedRun(run);
    }
    const workflow = await staging.openWorkflow(run.workflow.path, run.workflow.platform).catch((error) => {
      throw isGone(error) ? goneWorkflow(run, error) : error;
    });
    const resumed: Signal = {
      kind: 'resumed',
      at: staging.clock.now(),
      options: changes,
      retry,
      scope: await workflow.scope(),
    };
    const options = changedOptions(run.options, changes);
    const answerer = await staging.answererOf(options, env, workflow);
    return setOff({ run, options, layout, store, workflow, env, answerer, staging }, [], [resumed], request);
  } catch (error) {
    await store.close();
    throw error;
  }
}

const isGone = (error: unknown): boolean => error instanceof RaymondError && error.exitCode === EXIT.usage;

const goneWorkflow = (run: Run, cause: unknown): RaymondError =>
  new RaymondError(`The workflow of run ${run.id} cannot be opened at ${run.workflow.path}.`, {
    exitCode: EXIT.usage,
    hint: 'Put it back there, then resume the run.',
    cause,
  });
