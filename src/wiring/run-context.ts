import type { IdleLimit } from '../conversations/idle-limit.ts';
import type { Options } from '../core/options/options.ts';
import type { Run } from '../core/run/run.ts';
import type { Signal } from '../core/signals/signal.ts';
import type { FolderLayout } from '../disk/layout.ts';
import type { World } from '../engine/world.ts';
import { type Clock, SYSTEM_CLOCK } from '../process/clock.ts';
import { createFileBlobs } from '../storage/files/blobs.ts';
import { createFileInbox } from '../storage/files/inbox.ts';
import type { FileLeaseOptions } from '../storage/files/lease.ts';
import type { RunLease } from '../storage/storage.ts';
import type { ConversationCopies } from '../turns/turn-context.ts';
import { openWorkflow, type Workflow } from '../workflow/workflow.ts';
import { type BackendFactory, chooseBackend } from './backend-factory.ts';
import type { RequestStorage } from './request-handler.ts';

/** The parts of a run that a test replaces; everything else is the same for both. */
export interface Runtime {
  readonly openWorkflow: typeof openWorkflow;
  readonly chooseBackend: typeof chooseBackend;
  readonly clock: Clock;
  readonly storeOptions: Pick<FileLeaseOptions, 'durable' | 'facts'>;
  /** Opens the requests of people to the runs of a folder, for the process that drives them. */
  readonly openRequests: (layout: FolderLayout, durable: boolean) => RequestStorage;
  /** Where conversations are kept for other machines; null where they stay on this one. */
  readonly copies: ConversationCopies | null;
  /** True if something can be written into a turn of the agent that another process has taken. */
  readonly canReachElsewhere: (agent: string) => boolean;
  /** Stands between a run and its world; `send` is how signals get to the run by themselves, and `kill` is aborted when all turns are to end. */
  readonly wrapWorld: (world: World, send: (signal: Signal) => void, kill: AbortSignal) => World;
  /** The worker of a fleet that this is: it takes the turns of agents that are at home here. Null for runs in files. */
  readonly home: string | null;
  /** True if another worker drives the run, and decides which conversations it has. */
  readonly isGuest: boolean;
  /** Once aborted, the run continues as if its process had been killed: nothing is ended or saved. */
  readonly killed: AbortSignal | null;
  /** Once aborted, the run begins nothing more, lets running turns finish and is left to another process; null if it never is. */
  readonly leaving: AbortSignal | null;
  /** Limits the processes without a turn of all runs of this process; null where each run has its own limit only. */
  readonly idleLimit: IdleLimit | null;
  /** True if runs are in a folder that was made for them. */
  readonly isSandbox: boolean;
}

/** Opens the requests to the runs of a folder, for the process that drives them. */
export const openFileRequests = (layout: FolderLayout, durable: boolean): RequestStorage => ({
  inbox: createFileInbox(layout, { durable, isDriver: true }),
  blobs: createFileBlobs(layout, durable),
  async *readEvents(run) {
    const { createFileJournal } = await import('../storage/files/journal.ts');
    for await (const { change } of createFileJournal(layout).read(run)) yield* change.events;
  },
});

/** The runtime of real runs. */
export const PRODUCTION: Runtime = {
  openWorkflow,
  chooseBackend,
  clock: SYSTEM_CLOCK,
  storeOptions: {},
  openRequests: openFileRequests,
  canReachElsewhere: () => false,
  copies: null,
  wrapWorld: (world) => world,
  home: null,
  isGuest: false,
  killed: null,
  leaving: null,
  idleLimit: null,
  isSandbox: false,
};

/** A run in this process, from its start or resume to its end: all that is known about it before anything happens. */
export interface RunContext {
  readonly run: Run;
  /** The run's own options, with those that a resume changes. */
  readonly options: Options;
  readonly env: NodeJS.ProcessEnv;
  readonly layout: FolderLayout;
  /** The right to drive it. */
  readonly lease: RunLease;
  readonly workflow: Workflow;
  readonly backendFactory: BackendFactory;
  readonly runtime: Runtime;
  /** True if the user wants turns to be taken that may have run already. */
  readonly retry: boolean;
}
