import { assignRun } from './assign-run.ts';
import { driveRun } from './drive-run.ts';
import { GuestTurns } from './guest-turns.ts';
import type { NodeName } from './node-name.ts';
import type { NodeContext } from './node-run.ts';
import type { DriveRequest, QueueClient, QueuedTurn, QueueHandlers } from './queues.ts';

/** The handlers of a node's queues: it assigns runs, drives them, and takes turns for other drivers. */
export class QueueWork implements QueueHandlers {
  private readonly worker: NodeContext;
  private readonly workerName: NodeName;
  private readonly queues: QueueClient;
  private readonly homeTurns: GuestTurns;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(worker: NodeContext, workerName: NodeName, queues: QueueClient) {
    this.worker = worker;
    this.workerName = workerName;
    this.queues = queues;
    this.homeTurns = new GuestTurns(worker);
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
    assignRun(this.worker.database, this.queues, wanted, attempt);

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
    // Its entry in the queue stays for whoever continues with the run.
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
