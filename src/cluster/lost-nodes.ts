import { setTimeout as delay } from 'node:timers/promises';
import type { WhenLost } from '../core/options/option-rows.ts';
import { WORKSPACE } from '../core/run/workspace.ts';
import type { Failed, NodeLost } from '../core/signals/signal.ts';
import { type Database, IS_STEADY, NOT_GONE } from '../storage/postgres/database.ts';
import type { Requests } from '../storage/postgres/request-poll.ts';

const POLL_INTERVAL_MS = 1_000;

/** A turn that is under way on another worker. */
export interface TurnElsewhere {
  readonly run: string;
  readonly agent: string;
  readonly node: string;
  readonly whenLost: WhenLost;
  readonly isScript: boolean;
  /** True if its agent can continue at another worker. An agent with work in a folder of its own cannot. */
  readonly canMove: () => boolean;
}

/** The fate of a turn whose node is gone. */
type LostEnd = NodeLost | Failed;

interface Watched {
  readonly turn: TurnElsewhere;
  readonly end: (signal: LostEnd) => void;
}

/**
 * Looks after the workers on which turns of the runs are under way that this one drives. If one is gone, the run's `--when-lost`
 * decides; while its agents wait, the run says for what.
 */
export class LostNodes {
  private readonly database: Database;
  private readonly requests: Pick<Requests, 'stopOf'>;
  private readonly judge: { readonly name: string; readonly token: string };
  private readonly watched = new Set<Watched>();
  /** The reasons why runs wait, as their rows state them. */
  private readonly noted = new Map<string, string>();
  private isPolling = false;

  /** `judge` is this worker. */
  constructor(
    database: Database,
    requests: Pick<Requests, 'stopOf'>,
    judge: { readonly name: string; readonly token: string },
  ) {
    this.database = database;
    this.requests = requests;
    this.judge = judge;
  }

  /** Waits for an end of a turn, or until its worker is gone and its agent is not to wait for it. */
  async endOrLoss<T>(turn: TurnElsewhere, ended: Promise<T>): Promise<T | LostEnd> {
    let watched: Watched | undefined;
    const lost = new Promise<LostEnd>((end) => {
      watched = { turn, end };
      this.watched.add(watched);
    });
    this.poll();
    try {
      return await Promise.race([ended, lost]);
    } finally {
      if (watched !== undefined) this.watched.delete(watched);
    }
  }

  /** The fate of a turn that was withdrawn earlier: if its agent is to wait for its node, that was because the run was stopped. */
  endOfWithdrawn = (turn: TurnElsewhere): LostEnd => this.decide(turn) ?? this.stopped(turn);

  private async poll(): Promise<void> {
    if (this.isPolling) return;
    this.isPolling = true;
    while (this.watched.size > 0 || this.noted.size > 0) {
      await delay(POLL_INTERVAL_MS);
      await this.lookOnce().catch(() => {});
    }
    this.isPolling = false;
  }

  private async lookOnce(): Promise<void> {
    const gone = await this.findGone([...new Set(Array.from(this.watched, ({ turn }) => turn.node))]);
    const waits = new Map<string, TurnElsewhere[]>();
    for (const { turn, end } of this.watched) {
      if (!gone.has(turn.node)) continue;
      const signal = this.decide(turn);
      if (signal !== null) end(signal);
      else waits.set(turn.run, [...(waits.get(turn.run) ?? []), turn]);
    }
    for (const run of new Set([...waits.keys(), ...this.noted.keys()])) {
      const text = waits.has(run) ? describeWaits(waits.get(run) ?? []) : null;
      if ((this.noted.get(run) ?? null) === text) continue;
      await this.database.query('update raymond.runs set waits_for = $2 where id = $1 and driver = $3', [
        run,
        text,
        this.judge.name,
      ]);
      if (text === null) this.noted.delete(run);
      else this.noted.set(run, text);
    }
  }

  /** Those of these workers that are gone. Nobody is, if this one was itself not heard of for a while. */
  private async findGone(homes: readonly string[]): Promise<ReadonlySet<string>> {
    const { name, token } = this.judge;
    const rows = await this.database.query<{ name: string }>(
      `select home as name from unnest($1::text[]) as home where home not in ${NOT_GONE}
       and exists (select 1 from raymond.nodes where name = $2 and token = $3 and ${IS_STEADY})`,
      [homes, name, token],
    );
    return new Set(rows.map((row) => row.name));
  }

  /** The fate of a turn whose node is gone; null if its agent waits. */
  private decide(turn: TurnElsewhere): LostEnd | null {
    const { run, agent, node: home, whenLost, canMove } = turn;
    if (this.requests.stopOf(run) === 'now') return this.stopped(turn);
    const base = { at: this.database.clock.now(), agent, jitter: Math.random() };
    if (whenLost === 'fail') return { kind: 'home_lost', ...base, home, to: null, mayHaveRun: true };
    return whenLost === 'rehome' && canMove()
      ? { kind: 'home_lost', ...base, home, to: this.judge.name, mayHaveRun: true }
      : null;
  }

  private stopped({ agent, node, isScript }: TurnElsewhere): Failed {
    const message = `the run was stopped while its worker ${node} was gone; nobody knows how far the turn came`;
    const failure = { kind: isScript ? 'interrupted' : 'stopped', message } as const;
    const base = { at: this.database.clock.now(), agent, jitter: Math.random() };
    return { kind: 'failed', ...base, failure, cost: null, progress: 'none' };
  }
}

const MOST_NAMES = 3;

/** Words to follow "waits for". */
function describeWaits(turns: readonly TurnElsewhere[]): string {
  const homes = [...new Set(turns.map(({ node }) => node))].toSorted();
  const agents = turns.map(({ agent }) => (agent === WORKSPACE ? 'the clone of the run' : agent));
  const named = agents.length > MOST_NAMES ? `${agents.length} agents` : agents.join(' and ');
  const gone =
    homes.length === 1
      ? `the worker ${homes[0]}, which is gone and has ${named}`
      : `the workers ${homes.join(' and ')}, which are gone and have ${named}`;
  return turns.some(({ whenLost }) => whenLost === 'rehome') ? `${gone}, ${describeKept(turns)}` : gone;
}

/** Why agents wait although they are to continue elsewhere, and what can be done. */
function describeKept(turns: readonly TurnElsewhere[]): string {
  const run = turns[0]?.run ?? '';
  const giveUp = `\`raymond stop ${run} --now\`, then \`raymond resume ${run} --retry --when-lost fail\``;
  return `with a clone or worktree that may hold work which is nowhere else: start it again, or give that work up with ${giveUp}`;
}
