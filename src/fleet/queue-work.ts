import { driveRun } from './drive-run.ts';
import { HomeTurns } from './home-turns.ts';
import { placeRun } from './place-run.ts';
import type { DriveRequest, QueueClient, QueuedTurn, QueueHandlers } from './queues.ts';
import type { WorkerContext } from './run-here.ts';
import type { WorkerName } from './worker-name.ts';

/** What a worker does with the entries of its queues: it places runs, drives them, and takes turns for other drivers. */
export class QueueWork implements QueueHandlers {
  private readonly worker: WorkerContext;
  private readonly workerName: WorkerName;
  private readonly queues: QueueClient;
  private readonly homeTurns: HomeTurns;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(worker: WorkerContext, workerName: WorkerName, queues: QueueClient) {
    this.worker = worker;
    this.workerName = workerName;
    this.queues = queues;
    this.homeTurns = new HomeTurns(worker);
    worker.requests.add(this.homeTurns.look);
  }

  get isIdle(): boolean {
    return this.underWay.size === 0;
  }

  /** Waits until nothing is under way any more. */
  async finish(): Promise<void> {
    while (!this.isIdle) await Promise.allSettled(this.underWay);
  }

  place = (wanted: DriveRequest, attempt: number): Promise<void> =>
    placeRun(this.worker.database, this.queues, wanted, attempt);

  drive = async (wanted: DriveRequest): Promise<void> => {
    const { name, leaving, warn } = this.worker;
    // A process that stood still for long may have lost its name, and not know it yet.
    if (!(await this.workerName.isMine())) {
      await this.queues.putBack(wanted, name);
      return NEVER;
    }
    if (leaving.aborted) return NEVER;
    warn(`${wanted.run} is taken up`);
    const driving = this.homeTurns.driveHere(wanted, (lost) => driveRun(wanted, this.worker, lost));
    // Its entry in the queue stays for whoever goes on with the run.
    if (!(await this.during(driving))) return NEVER;
    warn(`${wanted.run} has ended`);
  };

  turn = async (wanted: QueuedTurn): Promise<void> => {
    if (!(await this.workerName.isMine())) {
      await this.queues.putTurnBack(wanted);
      return NEVER;
    }
    if (this.worker.leaving.aborted || !(await this.during(this.homeTurns.take(wanted)))) return NEVER;
  };

  private during<T>(work: Promise<T>): Promise<T> {
    this.underWay.add(work);
    return work.finally(() => this.underWay.delete(work));
  }
}

const NEVER = new Promise<never>(() => {});
