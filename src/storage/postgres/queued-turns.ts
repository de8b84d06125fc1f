import type { TurnName } from '../storage.ts';
import type { Database } from './database.ts';
import { IS_ALIVE } from './liveness.ts';

/*
 * A turn that waits for a slot of its node is on record as if it ran. Its node notes it among the rows of live output, which go
 * with the run, and when the node starts again.
 */

const FILE = 'queued';

/** Of a run `runs`: its turns that wait for a slot of a node which is alive, as agent and number. */
export const QUEUED_TURNS = `array(
    select agent || '/' || number from raymond.output
    where run = runs.id and file = '${FILE}' and worker in (select name from raymond.nodes where ${IS_ALIVE})
    order by 1
  )`;

/** The nodes' notes about their turns that wait for slots. */
export class QueuedTurns {
  private readonly database: Database;
  private readonly node: string;
  /** Notes of a turn reach the database in order. */
  private last: Promise<unknown> = Promise.resolve();

  constructor(database: Database, node: string) {
    this.database = database;
    this.node = node;
  }

  /** Notes that a turn waits; the function that it returns, that it waits no longer. Neither keeps the turn waiting. */
  add = (run: string, { agent, number }: TurnName): (() => void) => {
    this.write(
      `insert into raymond.output (worker, run, agent, number, file, position, bytes) values ($4, $1, $2, $3, '${FILE}', 0, '')
       on conflict (run, agent, number, file, position) do update set worker = excluded.worker`,
      [run, agent, number, this.node],
    );
    return () =>
      this.write(
        `delete from raymond.output where run = $1 and agent = $2 and number = $3 and file = '${FILE}' and worker = $4`,
        [run, agent, number, this.node],
      );
  };

  private write(sql: string, values: readonly unknown[]): void {
    // Nothing depends on a note: one that cannot be written is left out.
    this.last = this.last
      .then(() => this.database.retryUntilReachable(() => this.database.query(sql, values)))
      .catch(() => {});
  }
}
