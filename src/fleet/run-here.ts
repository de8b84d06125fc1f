import { join } from 'node:path';
import type { Run } from '../core/run.ts';
import type { World } from '../engine/world.ts';
import { errorMessageOf } from '../errors.ts';
import { PRODUCTION, type Runtime } from '../runtime/run-context.ts';
import type { StoreLayout } from '../store/layout.ts';
import type { IdleLimit } from '../turns/idle-limit.ts';
import { openWorkflow } from '../workflow/workflow.ts';
import { createConversationCopies } from './conversation-rows.ts';
import { type Database, FOR_EXTRAS } from './database.ts';
import { createDatabaseAnswers } from './database-answers.ts';
import type { LiveOutput } from './live-output.ts';
import type { RunFolders } from './removals.ts';
import type { Requests } from './requests.ts';
import type { Travel } from './travel.ts';
import { insertTurnFiles } from './turn-rows.ts';
import { relocateWorkflows, unpackWorkflow } from './workflow-archive.ts';

/** What all runs of a worker share. */
export interface WorkerContext {
  readonly name: string;
  readonly database: Database;
  readonly requests: Requests;
  /** The worker's own folder, for turns, conversations and workflows. */
  readonly layout: StoreLayout;
  readonly env: NodeJS.ProcessEnv;
  readonly bootId: string | null;
  /** How often somebody may have taken this worker for gone, up to now. */
  readonly countGaps: () => number;
  /** Aborted when the worker is to begin nothing more. */
  readonly leaving: AbortSignal;
  /** Makes the turns of a run wait for the slots of this worker. */
  readonly wrapWorld: (world: World, kill: AbortSignal) => World;
  /** Limits the processes of Claude Code that wait for their next prompt, of all runs together. */
  readonly idleLimit: IdleLimit;
  /** Shows those who watch what turns say as they run. */
  readonly liveOutput: LiveOutput;
  /** Takes turns to other workers. */
  readonly travel: Travel;
  readonly folders: RunFolders;
  readonly warn: (message: string) => void;
}

/** A run on this worker, which drives it or only takes turns of it. */
export interface RunHere {
  /** The run with the paths of this worker. */
  readonly adapt: (run: Run) => Run;
  /** What is behind its world here; `wrapWorld` has the turns that are taken here. */
  readonly runtimeOf: (run: Run) => Runtime;
}

/** The workflow of a run: its hash, and its path in the archive; and the mark of the run. */
export interface WorkflowColumns {
  readonly workflow: string;
  readonly workflow_path: string;
  readonly mark: string;
}

/** Makes what a run needs on this worker: its workflow is unpacked. */
export async function openRunHere(
  worker: WorkerContext,
  id: string,
  { workflow: hash, workflow_path: workflowPath, mark }: WorkflowColumns,
): Promise<RunHere> {
  const { name, database, requests, layout, warn } = worker;
  await worker.folders.take(id, mark);
  const folder = join(layout.root, 'workflows');
  const path = await unpackWorkflow(folder, hash, workflowPath, () =>
    database.whenReachable(() => readArchive(database, hash)),
  );
  return {
    adapt: (run) => ({
      ...run,
      // What agents share is per worker; only the paths of this one are of use here.
      workFolders: layout.workFolders(id, run.options.taskFolderPattern),
      workflows: relocateWorkflows(run.workflows, folder, hash),
    }),
    runtimeOf: (run) => ({
      ...PRODUCTION,
      clock: database.clock,
      openWorkflow: (_path, platform, limits = {}) =>
        openWorkflow(path, platform, { ...limits, root: join(folder, hash) }),
      createAnswers: (_layout, runId, { clock, warn: warnOf }) =>
        createDatabaseAnswers(database, requests, runId, { clock, warn: warnOf }),
      historyFiles: false,
      copies: createConversationCopies(database, id, name, warn),
      wrapWorld(world, _send, kill) {
        const { debug } = run.options;
        const stored = debug ? storeTurnFiles(world, worker, id) : world;
        return worker.wrapWorld(
          worker.liveOutput.wrap(stored, id, (turn) => layout.turnFolder(id, turn), debug),
          kill,
        );
      },
      idleLimit: worker.idleLimit,
      home: name,
      leaving: worker.leaving,
    }),
  };
}

/** A world that puts what its turns were asked and said into the database, before their ends count. */
const storeTurnFiles = (world: World, { database, layout, warn }: WorkerContext, run: string): World => ({
  ...world,
  async take(turn) {
    const signal = await world.take(turn);
    if (turn.kind !== 'claude' && turn.kind !== 'script') return signal;
    await database
      .whenReachable(() => insertTurnFiles(database, run, turn, layout.turnFolder(run, turn)), FOR_EXTRAS)
      .catch((error: unknown) => warn(`a turn of ${run} cannot be shown by logs: ${errorMessageOf(error)}`));
    return signal;
  },
});

async function readArchive(database: Database, hash: string): Promise<Buffer> {
  const archive = await database.queryBytes('archive', 'from raymond.workflows where hash = $1', [hash]);
  if (!archive) throw new Error(`the workflow ${hash} is not in the database`);
  return archive;
}
