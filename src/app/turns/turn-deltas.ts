import { recordedTurn, turnFileOf } from '../../core/run/agent.ts';
import type { Event } from '../../core/run/event.ts';
import { isLive } from '../../core/run/status.ts';
import { type TurnRef, turnRefOf } from '../../core/turns/due.ts';
import type { LogEntry } from '../../render/turn-renderer.ts';
import type { RunStorage } from '../../storage/storage.ts';
import { followLogEntries, toTurnLog } from '../logs/turn-log-entries.ts';
import type { RunStep } from '../run-files.ts';

const BATCH_MS = 100;
/** Of more turns at once nobody reads along; each costs a watched file. */
const MAX_TURNS = 64;

interface FollowedTurn {
  readonly turn: TurnRef;
  readonly end: () => void;
  count: number;
  /** The latest entries that were delivered, and those that wait for the next delivery. */
  latest: readonly LogEntry[];
  pending: LogEntry[];
}

/** Follows what the running turns of a run say and do, and delivers it in batches. The steps of the run tell which these are. */
export class TurnDeltas {
  private readonly storage: RunStorage;
  private readonly id: string;
  private readonly deliver: (deltas: readonly TurnDelta[]) => void;
  /** By agent. */
  private readonly turns = new Map<string, FollowedTurn>();
  /** The followed turns with something to deliver: also those that have ended since. */
  private readonly changed = new Set<FollowedTurn>();
  private timer: NodeJS.Timeout | null = null;
  /** The steps up to this one are known. */
  private seq = -1;
  private isClosed = false;

  constructor(
    run: { readonly id: string; readonly storage: RunStorage },
    deliver: (deltas: readonly TurnDelta[]) => void,
  ) {
    this.storage = run.storage;
    this.id = run.id;
    this.deliver = deliver;
  }

  /** Begins with the turns that are under way. */
  async open(): Promise<void> {
    const { run, observedStatus } = await this.storage.runs.observe(this.id);
    this.seq = run.seq;
    if (this.isClosed || !isLive(observedStatus)) return;
    for (const agent of run.agents) {
      const turn = recordedTurn(agent.phase);
      if (turn !== null) this.follow({ agent: agent.id, number: turn.number, state: turnFileOf(agent) });
    }
  }

  /** Takes note of a step of the run. */
  async observe({ seq, events }: RunStep): Promise<void> {
    if (seq <= this.seq) return;
    for (const event of events) await this.observeEvent(event);
  }

  /** The latest activity of the running turns. */
  get latest(): readonly TurnDelta[] {
    return [...this.turns.values()].flatMap(({ turn, count, latest, pending }) =>
      latest.length === 0 ? [] : [{ ...turn, first: count - pending.length - latest.length, entries: latest }],
    );
  }

  close(): void {
    this.isClosed = true;
    this.endAll();
    if (this.timer !== null) clearTimeout(this.timer);
  }

  private async observeEvent(event: Event): Promise<void> {
    if (event.kind === 'turn_started') this.follow(turnRefOf(event));
    if (event.kind === 'turn_ended') this.turns.get(event.agent)?.end();
    if (event.kind === 'run_ended') this.endAll();
    // Turns that outlived their process have no start of their own.
    if (event.kind === 'run_resumed') await this.open();
  }

  private follow(turn: TurnRef): void {
    const known = this.turns.get(turn.agent);
    if (this.isClosed || known?.turn.number === turn.number) return;
    known?.end();
    if (this.turns.size >= MAX_TURNS) return;
    let settle = (): void => {};
    const until = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const followed: FollowedTurn = {
      turn,
      end: () => {
        settle();
        if (this.turns.get(turn.agent) === followed) this.turns.delete(turn.agent);
      },
      count: 0,
      latest: [],
      pending: [],
    };
    this.turns.set(turn.agent, followed);
    // Files that are gone or cannot be read have nothing to tell.
    this.read(followed, until).catch(() => {});
  }

  private async read(followed: FollowedTurn, until: Promise<void>): Promise<void> {
    const log = toTurnLog(this.id, this.storage, followed.turn);
    await followLogEntries(log, until, (entry) => this.add(followed, entry));
  }

  private add(followed: FollowedTurn, entry: LogEntry): void {
    if (this.isClosed || !isShownLive(entry)) return;
    followed.count += 1;
    followed.pending.push(entry);
    if (followed.pending.length > 2 * MAX_DELTA_ENTRIES) followed.pending.splice(0, MAX_DELTA_ENTRIES);
    this.changed.add(followed);
    this.timer ??= setTimeout(() => this.flush(), BATCH_MS);
  }

  private flush(): void {
    this.timer = null;
    const deltas = [...this.changed].map((followed): TurnDelta => {
      const entries = followed.pending.slice(-MAX_DELTA_ENTRIES);
      followed.pending = [];
      followed.latest = [...followed.latest, ...entries].slice(-MAX_DELTA_ENTRIES);
      return { ...followed.turn, first: followed.count - entries.length, entries };
    });
    this.changed.clear();
    this.deliver(deltas);
  }

  private endAll(): void {
    for (const { end } of [...this.turns.values()]) end();
  }
}

/** The activity of a running turn since the last delta. */
export interface TurnDelta extends TurnRef {
  /** How many entries of the turn came before. */
  readonly first: number;
  readonly entries: readonly LogEntry[];
}

/** The most that a late reader gets of a turn, and that one delta has. The page of the turn has more. */
export const MAX_DELTA_ENTRIES = 50;

/** True if a delta has an entry: prompts and gaps only matter to views of one turn. */
export const isShownLive = ({ kind }: LogEntry): boolean => kind !== 'asked' && kind !== 'left_out';
