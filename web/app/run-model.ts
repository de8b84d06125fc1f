import { signal } from '@preact/signals';
import { get, type ListedTurn, type RunDetail, type RunEvent, runPath } from './api.ts';

/** How many of the latest turns and events are kept: more than anybody scrolls through. */
const MAX_EVENTS = 100_000;
const MAX_TURNS = 10_000;
const REFRESH_MS = 500;

/** An event and its number in the page. */
export interface ShownEvent {
  readonly key: number;
  readonly event: RunEvent;
}

/** A run that is being watched: what it was when the page was opened, and everything that has happened since. */
export class RunModel {
  readonly detail = signal<RunDetail | null>(null);
  readonly turns = signal<readonly ListedTurn[]>([]);
  readonly events = signal<readonly ShownEvent[]>([]);
  readonly error = signal<Error | null>(null);
  readonly isConnected = signal(true);
  readonly path: string;
  private stream: EventSource | null = null;
  private refreshTimer = 0;
  private nextKey = 0;
  private isClosed = false;

  constructor(project: string, run: string) {
    this.path = runPath(project, run);
    void this.open();
  }

  close(): void {
    this.isClosed = true;
    this.stream?.close();
    clearTimeout(this.refreshTimer);
  }

  /** Reads the run again, soon: several reasons in a row are one request. */
  refresh(): void {
    if (this.refreshTimer !== 0 || this.isClosed) return;
    this.refreshTimer = window.setTimeout(async () => {
      this.refreshTimer = 0;
      await this.load().catch((error: unknown) => this.fail(error));
    }, REFRESH_MS);
  }

  private async open(): Promise<void> {
    try {
      await this.load();
      const after = this.detail.value?.seq ?? -1;
      const [{ turns }, past] = await Promise.all([
        get<{ turns: ListedTurn[] }>(`${this.path}/turns?limit=${MAX_TURNS}`),
        this.readPast(after),
      ]);
      if (this.isClosed) return;
      this.turns.value = turns;
      this.append(past);
      this.listen(after);
    } catch (error) {
      this.fail(error);
    }
  }

  private async load(): Promise<void> {
    this.detail.value = await get<RunDetail>(this.path);
    this.error.value = null;
  }

  private async readPast(until: number): Promise<readonly RunEvent[]> {
    const events: RunEvent[] = [];
    for (let after = -1; ; ) {
      const { steps, more } = await get<{ steps: { seq: number; events: RunEvent[] }[]; more: boolean }>(
        `${this.path}/journal?after=${after}&limit=10000`,
      );
      for (const step of steps) if (step.seq <= until) events.push(...step.events);
      const last = steps.at(-1)?.seq ?? until;
      if (!more || last >= until || this.isClosed) return events;
      after = last;
    }
  }

  private listen(after: number): void {
    const stream = new EventSource(`/api${this.path}/events?after=${after}`);
    this.stream = stream;
    stream.addEventListener('step', (message) => {
      const { events } = JSON.parse(message.data as string) as { events: RunEvent[] };
      this.append(events);
      for (const event of events) this.follow(event);
      this.refresh();
    });
    stream.addEventListener('open', () => {
      this.isConnected.value = true;
    });
    stream.addEventListener('error', () => {
      this.isConnected.value = false;
    });
  }

  private append(events: readonly RunEvent[]): void {
    const added = events.map((event) => ({ key: this.nextKey++, event }));
    const all = [...this.events.value, ...added];
    this.events.value = all.length > MAX_EVENTS ? all.slice(-MAX_EVENTS) : all;
  }

  /** Keeps the bars of the turns up to date. */
  private follow(event: RunEvent): void {
    if (event.kind === 'turn_started') {
      const { at, ...rest } = event;
      const turn = { ...rest, started_at: at, ended_at: null, started_seq: -1 } as unknown as ListedTurn;
      this.turns.value = [...this.turns.value, turn];
    }
    if (event.kind !== 'turn_ended') return;
    const { kind: _, at, ...figures } = event;
    this.turns.value = this.turns.value.map((turn) =>
      turn.agent === event.agent && turn.turn === event.turn ? { ...turn, ...figures, ended_at: at } : turn,
    );
  }

  private fail(error: unknown): void {
    if (!this.isClosed) this.error.value = error instanceof Error ? error : new Error(String(error));
  }
}
