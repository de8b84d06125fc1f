import type { StopMode } from '../store/stop-request.ts';
import type { Database } from './database.ts';

const POLL_INTERVAL_MS = 250;

/**
 * What people ask of the runs of one worker: to stop, and answers. They are rows, and one look for all runs together finds those
 * that are new, however many runs there are.
 */
export class Requests {
  private readonly database: Database;
  private readonly worker: string;
  private stops = new Map<string, StopMode>();
  private answered = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(database: Database, worker: string) {
    this.database = database;
    this.worker = worker;
  }

  start(): void {
    const lookAgain = (): void => {
      this.timer = setTimeout(() => this.look().then(lookAgain, lookAgain), POLL_INTERVAL_MS);
    };
    lookAgain();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** The stop that was requested of a run; null if none was. */
  stopOf = (run: string): StopMode | null => this.stops.get(run) ?? null;

  /** Whether a question has an answer. */
  hasAnswer = (run: string, ask: string): boolean => this.answered.has(`${run}/${ask}`);

  private async look(): Promise<void> {
    const rows = await this.database.query<{ id: string; stop: StopMode | null; ask: string | null }>(
      `select id, stop, ask from raymond.runs left join raymond.answers on run = id
       where driver = $1 and status = 'running' and (stop is not null or ask is not null)`,
      [this.worker],
    );
    this.stops = new Map(rows.flatMap(({ id, stop }) => (stop === null ? [] : [[id, stop]])));
    this.answered = new Set(rows.flatMap(({ id, ask }) => (ask === null ? [] : [`${id}/${ask}`])));
  }
}
