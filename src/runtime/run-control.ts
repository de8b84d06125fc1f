import type { RunLocation } from './open-runs.ts';
import { createFilePrunePlace, type PrunePlace } from './prune.ts';
import { type StopOutcome, type StopRequest, stopRun } from './stop.ts';

/** A place where runs are kept, for those who stop and remove them, too: a folder, or a database. */
export interface RunControl {
  readonly location: RunLocation;
  stop(run: string, request: StopRequest): Promise<StopOutcome>;
  readonly prunePlace: PrunePlace;
}

/** The runs whose files are in a folder. */
export const controlFiles = (folder: string, env: NodeJS.ProcessEnv): RunControl => ({
  location: folder,
  stop: (run, request) => stopRun(run, { ...request, cwd: folder }),
  prunePlace: createFilePrunePlace(folder, env),
});
