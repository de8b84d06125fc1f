import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import type { World } from '../engine/world.ts';
import { callLimitsOf } from '../runtime/run-workflows.ts';
import type { WordInbox } from '../runtime/word-inbox.ts';
import { createWorld } from '../runtime/world.ts';
import { applyChange } from '../store/change.ts';
import type { RunStore } from '../store/store.ts';
import type { Database } from './database.ts';
import { readChanges } from './database-reader.ts';
import { openRunHere, type WorkerContext, type WorkflowColumns } from './run-here.ts';
import { loadRunRows } from './run-rows.ts';
import { noteHeard } from './travel-rows.ts';

/** A run that another worker drives, as its journal has it: loaded once, then kept up to date. */
export class RunCopy {
  private readonly database: Database;
  private run: Run;
  private updated: Promise<unknown> = Promise.resolve();
  readonly mark: string;

  private constructor(database: Database, run: Run, mark: string) {
    this.database = database;
    this.run = run;
    this.mark = mark;
  }

  static async load(database: Database, id: string): Promise<RunCopy> {
    const { run, mark } = await database.whenReachable(() => loadRunRows(database, id));
    return new RunCopy(database, run, mark ?? id);
  }

  /** The run as of now. */
  read(): Promise<Run> {
    const reading = this.updated.then(async () => {
      await this.database.whenReachable(async () => {
        for await (const change of readChanges(this.database, this.run.id, this.run.seq + 1))
          this.run = applyChange(this.run, change);
      });
      return this.run;
    });
    this.updated = reading.catch(() => {});
    return reading;
  }
}

/** The world of a run that another worker drives, for the turns that are taken here. */
export interface HomeWorld {
  readonly world: World;
  /** The run with the paths of this worker. */
  readonly adapt: (run: Run) => Run;
  /** The turns, as `agent/number`, that may have begun before the machine went down. */
  readonly doubtful: Set<string>;
  /** What is to be told to the run with the end of the next turn. */
  readonly signals: Signal[];
  /** Whether something can be written into the running turn of an agent. */
  readonly canReach: (agent: string) => boolean;
  close(): Promise<void>;
}

/** What the world of a run is opened with. */
interface HomeWorldStart {
  readonly mark: string;
  readonly retry: boolean;
  /** How often somebody may have taken this worker for gone before its turns were given to it. */
  readonly gaps: number;
}

/** Opens the world of a run that another worker drives. Nothing is saved through it. */
export async function openHomeWorld(
  worker: WorkerContext,
  run: Run,
  { mark, retry, gaps }: HomeWorldStart,
): Promise<HomeWorld> {
  const { database, layout, env } = worker;
  const [row] = await database.whenReachable(() =>
    database.query<WorkflowColumns>('select workflow, workflow_path, mark from raymond.runs where id = $1', [run.id]),
  );
  if (row === undefined) throw new Error(`the run ${run.id} is gone`);
  const { adapt, runtimeOf } = await openRunHere(worker, run.id, row);
  // What happens to the run is written down where it is driven.
  const runtime = {
    ...runtimeOf(run),
    debugFiles: false,
    isGuest: true,
    async beforeStart() {
      // It is looked for again: its agent may have gone on elsewhere meanwhile.
      if (worker.countGaps() !== gaps) throw new Error('this worker was not heard of for a while');
    },
  };
  const here = adapt(run);
  const { options } = here;
  const workflow = await runtime.openWorkflow(run.workflow.path, run.workflow.platform, callLimitsOf(options, here));
  const backendFactory = await runtime.chooseBackend(options, env, workflow);
  const doubtful = new Set<string>();
  const store: RunStore = {
    ...NOTHING_TO_SAVE,
    mark,
    isDoubtful: ({ agent, number }) => doubtful.has(`${agent}/${number}`),
  };
  const signals: Signal[] = [];
  let words: WordInbox | undefined;
  const { world, close } = await createWorld(
    { run: here, options, env, layout, store, workflow, backendFactory, runtime, retry, damage: [] },
    {
      stopSignal: NEVER_ABORTED,
      killSignal: NEVER_ABORTED,
      onBoard: () => {},
      onWords: (inbox) => {
        words = inbox;
      },
      onActivity: undefined,
      onRetry: undefined,
      onPrint: undefined,
      send(signal) {
        signals.push(signal);
        // Only to show it at once: it is told with the end of the turn, too.
        if (signal.kind === 'heard') noteHeard(database, run.id, signal.about.agent, signal.said).catch(() => {});
      },
    },
    () => {},
  );
  return { world, adapt, doubtful, signals, canReach: (agent) => words?.canReach(agent) ?? false, close };
}

const NEVER_ABORTED = new AbortController().signal;

const NOTHING_TO_SAVE: Omit<RunStore, 'mark' | 'isDoubtful'> = {
  save: async () => {},
  journalEnd: { seq: 0, offset: 0, owner: 0, checkedFrom: 0 },
  snapshot: async () => {},
  close: async () => {},
  abandon: () => {},
  presenceDescriptor: undefined,
  requestedStop: () => null,
};
