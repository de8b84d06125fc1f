import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { z } from 'zod';
import type { IdleLimit } from '../conversations/idle-limit.ts';
import type { Run } from '../core/run/run.ts';
import type { FolderLayout } from '../disk/layout.ts';
import type { World } from '../engine/world.ts';
import { errorMessageOf } from '../errors.ts';
import { conversationKey, createDatabaseBlobs, workflowKey } from '../storage/postgres/blobs.ts';
import { BEST_EFFORT, type Database } from '../storage/postgres/database.ts';
import { createDatabaseInbox } from '../storage/postgres/inbox.ts';
import { readStepRows } from '../storage/postgres/journal.ts';
import type { LiveOutput } from '../storage/postgres/live-output.ts';
import { parseRow } from '../storage/postgres/parse-row.ts';
import type { Requests } from '../storage/postgres/request-poll.ts';
import type { ConversationCopies, ConversationFiles } from '../turns/turn-context.ts';
import type { RequestStorage } from '../wiring/request-handler.ts';
import { PRODUCTION, type Runtime } from '../wiring/run-context.ts';
import { openWorkflow } from '../workflow/workflow.ts';
import type { RemoteTurns } from './remote-turns.ts';
import type { NodeFolders } from './removals.ts';
import { FETCHED, relocateWorkflows, unpackWorkflow } from './workflow-archive.ts';

/** The shared parts of all runs of a node. */
export interface NodeContext {
  readonly name: string;
  readonly database: Database;
  readonly requests: Requests;
  /** The worker's own folder, for turns, conversations and workflows. */
  readonly layout: FolderLayout;
  readonly env: NodeJS.ProcessEnv;
  readonly bootId: string | null;
  /** How often somebody may have taken this worker for gone, up to now. */
  readonly countMissedHeartbeats: () => number;
  /** Aborted when the worker is to begin nothing more. */
  readonly leaving: AbortSignal;
  /** Makes the turns of a run wait for the slots of this worker. */
  readonly wrapWorld: (world: World, run: string, kill: AbortSignal) => World;
  /** Limits the processes of Claude Code that wait for their next prompt, of all runs together. */
  readonly idleLimit: IdleLimit;
  /** Shows those who watch what turns say as they run. */
  readonly liveOutput: LiveOutput;
  /** Takes turns to other workers. */
  readonly travel: RemoteTurns;
  readonly folders: NodeFolders;
  readonly warn: (message: string) => void;
}

/** A run on this worker, which drives it or only takes turns of it. */
interface NodeRun {
  /** The run with the paths of this worker. */
  readonly adapt: (run: Run) => Run;
  /** The runtime behind its world here; `wrapWorld` has the turns that are taken here. */
  readonly runtimeOf: (run: Run) => Runtime;
}

/** The workflow of a run: its hash, and its path in the archive; and the mark of the run. */
export interface WorkflowColumns {
  readonly workflow: string;
  readonly workflow_path: string;
  readonly mark: string;
}

/** Opens the requests to the runs of a database, for the node that drives them. */
const openDatabaseRequests = (database: Database): RequestStorage => ({
  inbox: createDatabaseInbox(database),
  blobs: createDatabaseBlobs(database),
  async *readEvents(run) {
    for await (const { change } of readStepRows(database, run, -1)) yield* change.events;
  },
});

/** Makes what a run needs on this worker: its workflow is unpacked. */
export async function openRunHere(
  worker: NodeContext,
  id: string,
  { workflow: hash, workflow_path: workflowPath, mark }: WorkflowColumns,
): Promise<NodeRun> {
  const { name, database, layout, warn } = worker;
  await worker.folders.take(id, mark);
  const folder = join(layout.root, 'workflows');
  const path = await unpackWorkflow(folder, hash, workflowPath, () =>
    database.retryUntilReachable(() => readArchive(database, hash)),
  );
  return {
    adapt: (run) => ({
      ...run,
      // Shared folders are per node; only the paths of this one are of use here.
      workFolders: layout.workFolders(id, run.options.taskFolderPattern),
      workflows: relocateWorkflows(run.workflows, folder, hash),
    }),
    runtimeOf: (run) => ({
      ...PRODUCTION,
      clock: database.clock,
      openWorkflow: (_path, platform, limits = {}) =>
        openWorkflow(path, platform, { ...limits, root: join(folder, hash), fetched: join(folder, hash, FETCHED) }),
      openRequests: () => openDatabaseRequests(database),
      copies: createConversationCopies(database, id, name, warn),
      wrapWorld(world, _send, kill) {
        return worker.wrapWorld(publishTurns(world, worker, run), id, kill);
      },
      idleLimit: worker.idleLimit,
      home: name,
      leaving: worker.leaving,
    }),
  };
}

/** A world whose turns can be watched, and whose files are in the database before their ends count. */
const publishTurns = (world: World, { liveOutput, layout }: NodeContext, { id, options }: Run): World => ({
  ...world,
  async take(turn) {
    if (turn.kind !== 'claude' && turn.kind !== 'script') return world.take(turn);
    const finish = liveOutput.publish(id, turn, layout.turnFolder(id, turn));
    let hasEnded = false;
    try {
      const signal = await world.take(turn);
      hasEnded = true;
      return signal;
    } finally {
      await finish(hasEnded && options.debug);
    }
  },
});

async function readArchive(database: Database, hash: string): Promise<Buffer> {
  const archive = await database.queryBytes('bytes', 'from raymond.blobs where key = $1', [workflowKey(hash)]);
  if (!archive) throw new Error(`the workflow ${hash} is not in the database`);
  return archive;
}

/*
 * After each turn of Claude Code the newest copy of its conversation is in the database, before the end of the turn counts. The
 * worker that stored it last has it on its disk, perhaps with more; any other takes it from here.
 */

/**
 * The conversations of a run, for one worker: for who drives the run, with its epoch, and for who takes a turn of it. What a worker says
 * that has lost both does not count.
 */
export const createConversationCopies = (
  database: Database,
  run: string,
  worker: string,
  warn: (message: string) => void,
  epoch: number | null = null,
): ConversationCopies => ({
  async store(turn, session, files) {
    const key = conversationKey(run, session);
    try {
      const writer = { node: worker, epoch, turn };
      // One that cannot be copied must not be taken for the copy of before.
      await createDatabaseBlobs(database, BEST_EFFORT).put(key, files === null ? NONE : await packFiles(files), writer);
    } catch (error) {
      warn(`a conversation of ${run} stays on this worker: ${errorMessageOf(error)}`);
    }
  },
  async fetch(session) {
    const from = 'from raymond.blobs where key = $1 and node <> $2';
    const key = conversationKey(run, session);
    const files = await database.retryUntilReachable(() => database.queryBytes('bytes', from, [key, worker]));
    return files && files.length > 0
      ? unpackFiles(files, `The conversation ${session} of ${run} in ${database.name}`)
      : null;
  },
});

const NONE = Buffer.alloc(0);

/** One line with the names and lengths of the files, and then all of them, compressed. */
async function packFiles(files: ConversationFiles): Promise<Buffer> {
  const entries = Object.entries(files);
  const index = JSON.stringify(entries.map(([name, { length }]) => [name, length]));
  return promisify(gzip)(Buffer.concat([Buffer.from(`${index}\n`), ...entries.map(([, content]) => content)]));
}

const INDEX = z.array(z.tuple([z.string(), z.int().nonnegative()]));

async function unpackFiles(packed: Buffer, row: string): Promise<ConversationFiles> {
  const bytes = await promisify(gunzip)(packed);
  const end = bytes.indexOf('\n');
  const index = parseRow(INDEX, bytes.toString('utf8', 0, end), row);
  let at = end + 1;
  return Object.fromEntries(
    index.map(([name, length]) => {
      at += length;
      return [name, bytes.subarray(at - length, at)];
    }),
  );
}
