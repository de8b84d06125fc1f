import type { PendingRequest, RequestOutcome, StopMode } from '../requests.ts';
import type { Database } from './database.ts';
import { REQUEST_COLUMNS, type RequestRow, settleRequest, toRequest } from './inbox.ts';

const POLL_INTERVAL_MS = 250;

type PolledRow = RequestRow & { readonly outcome: string | null; readonly generation: number };

interface RequestsOfRun {
  readonly pending: PendingRequest[];
  stop: StopMode | null;
}

/** The requests to the runs that one node drives. One poll finds them for all runs together, however many there are. */
export class Requests {
  private readonly database: Pick<Database, 'name' | 'query' | 'retryUntilReachable'>;
  private readonly worker: string;
  private byRun: ReadonlyMap<string, RequestsOfRun> = new Map();
  /** Those that are settled, as `run/id`, until the database has that. */
  private readonly settled = new Set<string>();
  private timer: NodeJS.Timeout | undefined;
  private readonly others: (() => Promise<void>)[] = [];

  constructor(database: Pick<Database, 'name' | 'query' | 'retryUntilReachable'>, worker: string) {
    this.database = database;
    this.worker = worker;
  }

  /** Adds a poll that follows each of these. */
  add(poll: () => Promise<void>): void {
    this.others.push(poll);
  }

  start(): void {
    const pollAgain = (): void => {
      this.timer = setTimeout(() => this.poll().then(pollAgain, pollAgain), POLL_INTERVAL_MS);
    };
    pollAgain();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** The stop that was requested of a run; null if none was. */
  stopOf = (run: string): StopMode | null => this.byRun.get(run)?.stop ?? null;

  /** The requests to a run that are not settled, the oldest first. */
  pendingOf(run: string): readonly PendingRequest[] {
    const pending = this.byRun.get(run)?.pending ?? NONE;
    return this.settled.size === 0 ? pending : pending.filter(({ id }) => !this.settled.has(`${run}/${id}`));
  }

  /** Settles a request; resolves once the database has that. */
  async settle(run: string, id: string, outcome: RequestOutcome): Promise<void> {
    const key = `${run}/${id}`;
    // The first outcome counts; two statements might come in another order.
    if (this.settled.has(key)) return;
    this.settled.add(key);
    await this.database.retryUntilReachable(() => settleRequest(this.database, run, id, outcome));
  }

  /** Looks for the requests to a run that is about to be driven, so that nobody has to wait for the next poll. */
  async pollRun(run: string): Promise<void> {
    const found = this.group(await this.read('runs.id = $1', run));
    const others = [...this.byRun].filter(([id]) => id !== run);
    this.byRun = new Map([...others, ...found]);
  }

  /** Looks for what is new. */
  async poll(): Promise<void> {
    const settled = [...this.settled];
    const rows = await this.read(`driver = $1 and status = 'running'`, this.worker);
    this.byRun = this.group(rows);
    const unsettled = new Set(rows.flatMap(({ run, id, outcome }) => (outcome === null ? [`${run}/${id}`] : [])));
    for (const key of settled) if (!unsettled.has(key)) this.settled.delete(key);
    for (const poll of this.others) await poll();
  }

  private read(condition: string, value: string): Promise<readonly PolledRow[]> {
    return this.database.query<PolledRow>(
      `select ${REQUEST_COLUMNS}, outcome, generation from raymond.requests join raymond.runs on runs.id = run
       where ${condition} and (outcome is null or requests.id in ('stop-soon-' || generation, 'stop-now-' || generation))
       order by at, requests.id`,
      [value],
    );
  }

  private group(rows: readonly PolledRow[]): ReadonlyMap<string, RequestsOfRun> {
    const groups = new Map<string, RequestsOfRun>();
    for (const row of rows) {
      const group = groups.get(row.run) ?? { pending: [], stop: null };
      groups.set(row.run, group);
      const request = toRequest(row, this.database.name);
      if (row.outcome === null) group.pending.push(request);
      const isStop = request.kind === 'stop' && request.lease === String(row.generation);
      if (isStop && group.stop !== 'now') group.stop = request.mode;
    }
    return groups;
  }
}

const NONE: readonly PendingRequest[] = [];
