import type { World } from '../engine/world.ts';
import type { StoreOptions } from '../store/store.ts';
import { type RunClock, SYSTEM_CLOCK } from '../turns/clock.ts';
import { openWorkflow } from '../workflow/workflow.ts';
import { chooseBackend } from './backend-factory.ts';

/** What a rehearsal has otherwise than a run in earnest; everything else is the same for both. */
export interface Runtime {
  readonly openWorkflow: typeof openWorkflow;
  /** Finds out who answers. */
  readonly chooseBackend: typeof chooseBackend;
  readonly clock: RunClock;
  readonly storeOptions: Pick<StoreOptions, 'durable' | 'facts'>;
  /** Whether to keep a history for people beside the record, if the run is to keep files at all. */
  readonly debugFiles: boolean;
  /** Stands between a run and its world. */
  readonly wrapWorld: (world: World) => World;
  /** Once it is aborted, this life of the run is over as if its process had been killed: nothing is ended or saved. */
  readonly killed: AbortSignal | null;
}

export const PRODUCTION: Runtime = {
  openWorkflow,
  chooseBackend,
  clock: SYSTEM_CLOCK,
  storeOptions: {},
  debugFiles: true,
  wrapWorld: (world) => world,
  killed: null,
};
