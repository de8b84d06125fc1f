import type { World } from '../engine/world.ts';
import type { StoreOptions } from '../store/store.ts';
import { type Clock, REAL_TIME } from '../turns/clock.ts';
import { openWorkflow } from '../workflow/load.ts';
import { answererOf } from './answerer.ts';

/** What a rehearsal has otherwise than a run in earnest; everything else is the same for both. */
export interface Staging {
  readonly openWorkflow: typeof openWorkflow;
  /** Finds out who answers. */
  readonly answererOf: typeof answererOf;
  readonly clock: Clock;
  readonly store: Pick<StoreOptions, 'durable' | 'facts'>;
  /** Whether to keep a history for people beside the record, if the run is to keep files at all. */
  readonly debugFiles: boolean;
  /** Stands between a run and its world. */
  readonly around: (world: World) => World;
  /** Once it is aborted, this life of the run is over as if its process had been killed: nothing is ended or saved. */
  readonly gone: AbortSignal | null;
}

export const IN_EARNEST: Staging = {
  openWorkflow,
  answererOf,
  clock: REAL_TIME,
  store: {},
  debugFiles: true,
  around: (world) => world,
  gone: null,
};
