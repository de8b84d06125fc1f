import type { Options } from '../core/options.ts';
import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import type { World } from '../engine/world.ts';
import type { StoreLayout } from '../store/layout.ts';
import type { RunStore, StoreOptions } from '../store/store.ts';
import { type Clock, SYSTEM_CLOCK } from '../turns/clock.ts';
import type { IdleLimit } from '../turns/idle-limit.ts';
import type { ConversationCopies } from '../turns/turn-context.ts';
import { openWorkflow, type Workflow } from '../workflow/workflow.ts';
import { createAnswerSource } from './answer-source.ts';
import { type BackendFactory, chooseBackend } from './backend-factory.ts';
import { createFileWords } from './word-source.ts';

/** The parts of a run that a test replaces; everything else is the same for both. */
export interface Runtime {
  readonly openWorkflow: typeof openWorkflow;
  readonly chooseBackend: typeof chooseBackend;
  readonly clock: Clock;
  readonly storeOptions: Pick<StoreOptions, 'durable' | 'facts'>;
  /** Where the answers of people to the questions of a run come from. */
  readonly createAnswers: typeof createAnswerSource;
  /** Where conversations are kept for other machines; null where they stay on this one. */
  readonly copies: ConversationCopies | null;
  /** Where what people say to the agents of a run comes from. */
  readonly createWords: typeof createFileWords;
  /** Whether to write a summary of the history beside the journal. */
  readonly historyFiles: boolean;
  /** Whether to keep debug files, if the run's options want them at all. */
  readonly debugFiles: boolean;
  /** Stands between a run and its world; `send` is how signals get to the run by themselves, and `kill` is aborted when all turns are to end. */
  readonly wrapWorld: (world: World, send: (signal: Signal) => void, kill: AbortSignal) => World;
  /** The worker of a fleet that this is: it takes the turns of agents that are at home here. Null for runs in files. */
  readonly home: string | null;
  /** Whether another worker drives the run, and decides which conversations it has. */
  readonly isGuest: boolean;
  /** Once aborted, the run goes on as if its process had been killed: nothing is ended or saved. */
  readonly killed: AbortSignal | null;
  /** Once aborted, the run begins nothing more, lets running turns finish and is left to another process; null if it never is. */
  readonly leaving: AbortSignal | null;
  /** Aborted when this process has lost the run, with an error for it: it saves and begins nothing more, and running turns go on by themselves. */
  readonly lost: AbortSignal | null;
  /** Called right before a process of a turn is started; throws if this process has lost the run. Null where nobody can take it. */
  readonly beforeStart: (() => Promise<void>) | null;
  /** Limits the processes without a turn of all runs of this process; null where each run has its own limit only. */
  readonly idleLimit: IdleLimit | null;
  /** Whether runs are in a folder that was made for them. */
  readonly isSandbox: boolean;
}

/** The runtime of real runs. */
export const PRODUCTION: Runtime = {
  openWorkflow,
  chooseBackend,
  clock: SYSTEM_CLOCK,
  storeOptions: {},
  createAnswers: createAnswerSource,
  createWords: createFileWords,
  copies: null,
  historyFiles: true,
  debugFiles: true,
  wrapWorld: (world) => world,
  home: null,
  isGuest: false,
  killed: null,
  leaving: null,
  lost: null,
  beforeStart: null,
  idleLimit: null,
  isSandbox: false,
};

/** A run in this process, from its start or resume to its end: all that is known about it before anything happens. */
export interface RunContext {
  readonly run: Run;
  /** The run's own options, with those that a resume changes. */
  readonly options: Options;
  readonly env: NodeJS.ProcessEnv;
  readonly layout: StoreLayout;
  readonly store: RunStore;
  readonly workflow: Workflow;
  readonly backendFactory: BackendFactory;
  readonly runtime: Runtime;
  /** Whether the user wants turns to be taken that may have run already. */
  readonly retry: boolean;
  /** What was damaged of the run's files and had to be restored: a sentence each. */
  readonly damage: readonly string[];
}
