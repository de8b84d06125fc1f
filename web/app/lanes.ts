import type { ListedTurnDocument } from '../../src/documents/types.ts';

/** A turn and the time since when its agent was waiting for it. */
export interface Bar {
  turn: ListedTurnDocument;
  readyMs: number;
  readonly startMs: number;
  /** Null while it runs. */
  endMs: number | null;
}

/** The turns of one agent, in their order. */
export interface Lane {
  readonly agent: string;
  readonly bars: Bar[];
}

/** The turns of a run by agent. It grows with the run: to sort ten thousands of turns anew several times per second would be felt. */
export class Lanes {
  readonly all: Lane[] = [];
  private readonly byAgent = new Map<string, Lane>();
  private readonly begunMs = new Map<string, number>();

  /** An agent was started, and waits for its first turn since then. */
  begin(agent: string, at: string): void {
    const ms = Date.parse(at);
    this.begunMs.set(agent, ms);
    const first = this.byAgent.get(agent)?.bars[0];
    if (first !== undefined) first.readyMs = ms;
  }

  /** The next turn of an agent. */
  add(turn: ListedTurnDocument): void {
    const { agent } = turn;
    let lane = this.byAgent.get(agent);
    if (lane === undefined) {
      lane = { agent, bars: [] };
      this.byAgent.set(agent, lane);
      this.all.push(lane);
    }
    const startMs = Date.parse(turn.started_at);
    const readyMs = lane.bars.at(-1)?.endMs ?? this.begunMs.get(agent) ?? startMs;
    lane.bars.push({ turn, readyMs, startMs, endMs: parseEnd(turn) });
  }

  /** A turn that is known has ended. */
  end(turn: ListedTurnDocument): void {
    const bar = this.byAgent.get(turn.agent)?.bars.findLast((each) => each.turn.turn === turn.turn);
    if (bar === undefined) return;
    bar.turn = turn;
    bar.endMs = parseEnd(turn);
  }
}

const parseEnd = ({ ended_at }: ListedTurnDocument): number | null => (ended_at === null ? null : Date.parse(ended_at));
