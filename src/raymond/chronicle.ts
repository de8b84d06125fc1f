import type { Event, TurnEnded, TurnStarted } from '../core/event.ts';
import type { Narrator } from './narrators.ts';

/** Puts the turns of a run in order: those that are over are told as a whole, those under way as they go on. */
export class Chronicle {
  /** Whether the run has come to its end. */
  isOver = false;
  private readonly narrator: Narrator;
  private readonly only: string | undefined;
  private readonly open = new Map<string, OpenTurn>();

  constructor(narrator: Narrator, only: string | undefined) {
    this.narrator = narrator;
    this.only = only;
  }

  async take(event: Event): Promise<void> {
    if (event.kind === 'run_ended') this.isOver = true;
    if (event.kind === 'run_resumed') this.isOver = false;
    if ('agent' in event && this.only !== undefined && event.agent !== this.only) return;
    if (event.kind === 'turn_started') {
      this.open.set(event.agent, { turn: event, live: null });
      return;
    }
    if (event.kind === 'turn_ended') await this.endOf(event);
    this.narrator.happened(event);
  }

  /** From here on turns under way are told as they go on. */
  goLive(): void {
    for (const [agent, { turn, live }] of this.open) {
      if (live === null) this.open.set(agent, { turn, live: follow(this.narrator, turn) });
    }
  }

  /** Tells what is known of the turns whose end is not. */
  async close(): Promise<void> {
    for (const { turn, live } of this.open.values()) {
      if (live === null) await this.narrator.whole(turn, null);
      else await live.finish(null);
    }
    this.open.clear();
  }

  /** Lets go of all turns that are followed. */
  giveUp(): void {
    for (const { live } of this.open.values()) live?.finish(null).catch(() => {});
  }

  private async endOf(end: TurnEnded): Promise<void> {
    const open = this.open.get(end.agent);
    this.open.delete(end.agent);
    if (open === undefined) return;
    if (open.live === null) await this.narrator.whole(open.turn, end);
    else await open.live.finish(end);
  }
}

interface OpenTurn {
  readonly turn: TurnStarted;
  readonly live: { readonly finish: (end: TurnEnded | null) => Promise<void> } | null;
}

function follow(narrator: Narrator, turn: TurnStarted): NonNullable<OpenTurn['live']> {
  let settle: (end: TurnEnded | null) => void = () => {};
  const ended = new Promise<TurnEnded | null>((resolve) => {
    settle = resolve;
  });
  const told = narrator.live(turn, ended);
  // Who finishes it hears of a failure.
  told.catch(() => {});
  return {
    finish(end) {
      settle(end);
      return told;
    },
  };
}
