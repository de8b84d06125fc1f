import { applyChange } from '../core/run/change.ts';
import type { Run } from '../core/run/run.ts';
import type { Signal } from '../core/signals/signal.ts';
import type { World } from '../engine/world.ts';
import type { Database } from '../storage/postgres/database.ts';
import { readStepRows } from '../storage/postgres/journal.ts';
import { recordDelivery } from '../storage/postgres/remote-turn-rows.ts';
import { loadRunRows } from '../storage/postgres/run-rows.ts';
import type { RunLease } from '../storage/storage.ts';
import type { RequestHandler } from '../wiring/request-handler.ts';
import { callLimitsOf } from '../wiring/run-workflows.ts';
import { createWorld } from '../wiring/world.ts';
import { type NodeContext, openRunHere, type WorkflowColumns } from './node-run.ts';

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
    const { run, mark } = await database.retryUntilReachable(() => loadRunRows(database, id));
    return new RunCopy(database, run, mark ?? id);
  }

  /** The run as of now. */
  read(): Promise<Run> {
    const reading = this.updated.then(async () => {
      await this.database.retryUntilReachable(async () => {
        for await (const { change } of readStepRows(this.database, this.run.id, this.run.seq))
          this.run = applyChange(this.run, change);
      });
      return this.run;
    });
    this.updated = reading.catch(() => {});
    return reading;
  }
}

/** The world of a run that another worker drives, for the turns that are taken here. */
export interface GuestWorld {
  readonly world: World;
  /** The run with the paths of this worker. */
  readonly adapt: (run: Run) => Run;
  /** The turns, as `agent/number`, that may have begun before the machine went down. */
  readonly doubtful: Set<string>;
  /** The signals to send with the end of the next turn. */
  readonly signals: Signal[];
  /** True if something can be written into the running turn of an agent. */
  readonly canReach: (agent: string) => boolean;
  close(): Promise<void>;
}

/** The facts with which a run's world is opened. */
interface HomeWorldStart {
  readonly mark: string;
  readonly retry: boolean;
  /** How often somebody may have taken this worker for gone before its turns were given to it. */
  readonly gaps: number;
}

/** Opens the world of a run that another worker drives. Nothing is saved through it. */
export async function openGuestWorld(
  worker: NodeContext,
  run: Run,
  { mark, retry, gaps }: HomeWorldStart,
): Promise<GuestWorld> {
  const { database, layout, env } = worker;
  const [row] = await database.retryUntilReachable(() =>
    database.query<WorkflowColumns>('select workflow, workflow_path, mark from raymond.runs where id = $1', [run.id]),
  );
  if (row === undefined) throw new Error(`the run ${run.id} is gone`);
  const { adapt, runtimeOf } = await openRunHere(worker, run.id, row);
  // The driver of the run records what happens to it.
  const runtime = {
    ...runtimeOf(run),
    isGuest: true,
  };
  const here = adapt(run);
  const { options } = here;
  const workflow = await runtime.openWorkflow(
    run.workflow.path,
    run.workflow.platform,
    callLimitsOf(options, process.env, here),
  );
  const backendFactory = await runtime.chooseBackend(options, env, workflow);
  const doubtful = new Set<string>();
  const lease: RunLease = {
    ...NOTHING_TO_SAVE,
    run: here,
    mark,
    node: worker.name,
    async confirm() {
      // It is looked for again: its agent may have continued elsewhere meanwhile.
      if (worker.countMissedHeartbeats() !== gaps) throw new Error('this worker was not heard of for a while');
    },
    isDoubtful: ({ agent, number }) => doubtful.has(`${agent}/${number}`),
  };
  const signals: Signal[] = [];
  let requests: RequestHandler | undefined;
  const { world, close } = await createWorld(
    { run: here, options, env, layout, lease, workflow, backendFactory, runtime, retry },
    {
      stopSignal: NEVER_ABORTED,
      killSignal: NEVER_ABORTED,
      onStop: () => {},
      onRequests: (handler) => {
        requests = handler;
      },
      onActivity: undefined,
      onRetry: undefined,
      onPrint: undefined,
      send(signal) {
        signals.push(signal);
        // Only to show it at once: it is told with the end of the turn, too.
        if (signal.kind === 'heard') recordDelivery(database, run.id, signal.about.agent, signal.said).catch(() => {});
      },
    },
    () => {},
  );
  return { world, adapt, doubtful, signals, canReach: (agent) => requests?.canReach(agent) ?? false, close };
}

const NEVER_ABORTED = new AbortController().signal;

const NOTHING_TO_SAVE: Omit<RunLease, 'run' | 'mark' | 'node' | 'confirm' | 'isDoubtful'> = {
  damage: [],
  epoch: null,
  generation: 0,
  turn: null,
  lost: NEVER_ABORTED,
  presence: null,
  append: async () => {},
  journalEnd: null,
  snapshot: async () => {},
  leaseId: '',
  pending: () => [],
  settle: () => {},
  release: async () => {},
  abandon: () => {},
};
