import { signal } from '@preact/signals';
import type {
  ApiRunDocument,
  EventDocument,
  JournalDocument,
  ListedTurnDocument,
  LogEntryDocument,
  StepDocument,
  TurnDeltaDocument,
  TurnDeltasDocument,
  TurnListDocument,
} from '../../src/documents/types.ts';
import { get, runPath } from './api.ts';
import { Lanes } from './lanes.ts';

/** How many of the latest turns and events are kept: more than anybody scrolls through. */
const MAX_EVENTS = 100_000;
const MAX_TURNS = 10_000;
const MAX_SAID_TURNS = 200;
const PAGE_STEPS = 5_000;
const REFRESH_MS = 500;
/** How often what has come is shown. */
const SHOW_MS = 100;

/** A line of the stream: an event of the run, or what a turn said or did. */
export interface StreamItem {
  readonly key: number;
  readonly at: string;
  readonly agent: string;
  readonly turn: number | null;
  readonly content: { readonly event: EventDocument } | { readonly entry: LogEntryDocument };
}

/** The known facts of a turn that runs while the page is open. */
interface LiveTurn {
  readonly turn: number;
  entries: LogEntryDocument[];
  /** The number of the first of the entries. */
  first: number;
}

/**
 * A run that is being watched: what it was when the page was opened, and everything that has happened since. The lists grow in
 * place; views read `version`, which changes a few times per second at most.
 */
export class RunModel {
  readonly detail = signal<ApiRunDocument | null>(null);
  readonly version = signal(0);
  readonly error = signal<Error | null>(null);
  readonly connection = signal<'open' | 'lost' | 'closed'>('open');
  readonly turns: ListedTurnDocument[] = [];
  readonly stream: StreamItem[] = [];
  readonly lanes = new Lanes();
  /** By agent, its running turn. */
  readonly live = new Map<string, LiveTurn>();
  readonly path: string;
  private readonly places = new Map<string, number>();
  private source: EventSource | null = null;
  private refreshTimer = 0;
  private refreshMs = REFRESH_MS;
  private isStale = false;
  private showTimer = 0;
  private nextKey = 0;
  private isClosed = false;

  constructor(project: string, run: string) {
    this.path = runPath(project, run);
    void this.open();
  }

  close(): void {
    this.isClosed = true;
    this.source?.close();
    clearTimeout(this.refreshTimer);
    clearTimeout(this.showTimer);
  }

  /** Reads the run again, soon: several reasons in a row are one request. */
  refresh(): void {
    this.isStale = true;
    if (this.refreshTimer !== 0 || this.isClosed) return;
    this.refreshTimer = window.setTimeout(async () => {
      const start = performance.now();
      await this.load().catch((error: unknown) => this.fail(error));
      // A run that takes the server long is asked for less often.
      this.refreshMs = Math.min(Math.max(REFRESH_MS, 10 * (performance.now() - start)), 20 * REFRESH_MS);
      this.refreshTimer = 0;
      if (this.isStale) this.refresh();
    }, this.refreshMs);
    this.isStale = false;
  }

  findTurn(agent: string, turn: string): ListedTurnDocument | undefined {
    const place = this.places.get(`${agent}/${turn}`);
    return place === undefined ? undefined : this.turns[place];
  }

  private async open(): Promise<void> {
    try {
      await this.load();
      const after = this.detail.value?.seq ?? -1;
      const readTurns = async (): Promise<void> => {
        const { turns } = await get<TurnListDocument>(`${this.path}/turns?limit=${MAX_TURNS}`);
        for (const turn of turns) this.addTurn(turn);
        this.show();
      };
      await Promise.all([readTurns(), this.readPast(after)]);
      await this.readSaid();
      if (!this.isClosed) this.listen(after);
    } catch (error) {
      this.fail(error);
    }
  }

  private async load(): Promise<void> {
    this.detail.value = await get<ApiRunDocument>(this.path);
    this.error.value = null;
  }

  /** Page by page, so that there is something to see from the first on. */
  private async readPast(until: number): Promise<void> {
    for (let after = -1; ; ) {
      const { steps, more } = await get<JournalDocument>(`${this.path}/journal?after=${after}&limit=${PAGE_STEPS}`);
      for (const step of steps) if (step.seq <= until) for (const event of step.events) this.addEvent(event);
      this.show();
      const last = steps.at(-1)?.seq ?? until;
      if (!more || last >= until || this.isClosed) return;
      after = last;
    }
  }

  /** Puts what turns said before this page was open in front of their ends. */
  private async readSaid(): Promise<void> {
    const { turns } = await get<TurnDeltasDocument>(`${this.path}/said?limit=${MAX_SAID_TURNS}`);
    const said = new Map(turns.map(({ agent, turn, entries }) => [`${agent}/${turn}`, entries]));
    if (said.size === 0) return;
    const past = this.stream.splice(0);
    for (const item of past) {
      const { at, agent, turn, content } = item;
      const isEnd = 'event' in content && content.event.kind === 'turn_ended';
      for (const entry of (isEnd && said.get(`${agent}/${turn}`)) || [])
        this.stream.push({ key: this.nextKey++, at, agent, turn, content: { entry } });
      this.stream.push(item);
    }
    this.show();
  }

  private listen(after: number): void {
    const source = new EventSource(`/api${this.path}/events?after=${after}`);
    this.source = source;
    source.addEventListener('step', (message) => {
      const { events } = JSON.parse(message.data as string) as StepDocument;
      for (const event of events) {
        this.addEvent(event);
        this.follow(event);
      }
      this.showSoon();
      this.refresh();
    });
    source.addEventListener('delta', (message) => {
      const { turns } = JSON.parse(message.data as string) as TurnDeltasDocument;
      for (const delta of turns) this.addDelta(delta);
      this.showSoon();
    });
    source.addEventListener('open', () => {
      this.connection.value = 'open';
    });
    source.addEventListener('error', () => {
      this.connection.value = source.readyState === EventSource.CLOSED ? 'closed' : 'lost';
    });
  }

  private addEvent(event: EventDocument): void {
    const { at } = event;
    const agent = 'agent' in event ? event.agent : '';
    if (event.kind === 'agent_started') this.lanes.begin(agent, at);
    const turn = 'turn' in event ? event.turn : null;
    this.push({ at, agent, turn, content: { event } });
  }

  /** Entries that are known already come again when the connection was lost. */
  private addDelta({ agent, turn, first, entries }: TurnDeltaDocument): void {
    let live = this.live.get(agent);
    if (live === undefined || turn > live.turn) {
      live = { turn, entries: [], first };
      this.live.set(agent, live);
    }
    if (turn < live.turn) return;
    // The start of a queued turn is no step of the run.
    if (this.detail.value?.agents.some(({ id, status }) => id === agent && status === 'queued')) this.refresh();
    const known = live.first + live.entries.length;
    if (first > known) [live.first, live.entries] = [first, []];
    const added = entries.slice(Math.max(0, known - first));
    live.entries.push(...added);
    const at = new Date().toISOString();
    for (const entry of added) this.push({ at, agent, turn, content: { entry } });
  }

  private push(item: Omit<StreamItem, 'key'>): void {
    this.stream.push({ key: this.nextKey++, ...item });
    // Cut now and then: to drop the first of many each time would be slow.
    if (this.stream.length > 1.1 * MAX_EVENTS) this.stream.splice(0, this.stream.length - MAX_EVENTS);
  }

  private addTurn(turn: ListedTurnDocument): void {
    this.places.set(`${turn.agent}/${turn.turn}`, this.turns.length);
    this.turns.push(turn);
    this.lanes.add(turn);
  }

  /** Keeps the bars of the turns up to date. */
  private follow(event: EventDocument): void {
    if (event.kind === 'turn_started') {
      const { kind: _, at, ...rest } = event;
      const turn = { ...rest, started_at: at, ended_at: null, started_seq: -1 };
      if (!this.places.has(`${turn.agent}/${turn.turn}`)) this.addTurn(turn);
    }
    if (event.kind !== 'turn_ended' && event.kind !== 'cost_corrected') return;
    if (event.kind === 'turn_ended') this.live.delete(event.agent);
    const { kind, at, ...figures } = event;
    const place = this.places.get(`${event.agent}/${event.turn}`);
    const turn = place === undefined ? undefined : this.turns[place];
    if (place === undefined || turn === undefined) return;
    const ended = { ...turn, ...figures, ...(kind === 'turn_ended' && { ended_at: at }) };
    this.turns[place] = ended;
    this.lanes.end(ended);
  }

  private showSoon(): void {
    if (this.showTimer === 0) this.showTimer = window.setTimeout(() => this.show(), SHOW_MS);
  }

  private show(): void {
    this.showTimer = 0;
    this.version.value += 1;
  }

  private fail(error: unknown): void {
    if (!this.isClosed) this.error.value = error instanceof Error ? error : new Error(String(error));
  }
}
