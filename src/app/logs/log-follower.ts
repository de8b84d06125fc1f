import type { Event, TurnEnded, TurnStarted } from '../../core/run/event.ts';
import type { LogRenderer } from './log-renderers.ts';

/** Puts the turns of a run in order: finished ones are written as a whole, running ones as they continue. */
export class LogFollower {
  /** True if the run has ended. */
  hasEnded = false;
  private readonly renderer: LogRenderer;
  private readonly isWanted: (event: Event) => boolean;
  private readonly openTurns = new Map<string, OpenTurn>();

  constructor(renderer: LogRenderer, isWanted: (event: Event) => boolean) {
    this.renderer = renderer;
    this.isWanted = isWanted;
  }

  async handleEvent(event: Event): Promise<void> {
    if (event.kind === 'run_ended') this.hasEnded = true;
    if (event.kind === 'run_resumed') this.hasEnded = false;
    if (!this.isWanted(event)) return;
    if (event.kind === 'turn_started' && !this.renderer.eventsOnly) {
      this.openTurns.set(event.agent, { turn: event, live: null });
      return;
    }
    if (event.kind === 'turn_ended') await this.finishTurn(event);
    this.renderer.renderEvent(event);
  }

  /** From here on running turns are written as they continue. */
  startFollowing(): void {
    for (const [agent, { turn, live }] of this.openTurns) {
      if (live === null) this.openTurns.set(agent, { turn, live: followTurn(this.renderer, turn) });
    }
  }

  /** Writes the turns whose end is not known, as far as they have come. */
  async finishOpenTurns(): Promise<void> {
    for (const { turn, live } of this.openTurns.values()) {
      if (live === null) await this.renderer.renderTurn(turn, null);
      else await live.finish(null);
    }
    this.openTurns.clear();
  }

  /** Ends the following of all turns. */
  abandonOpenTurns(): void {
    for (const { live } of this.openTurns.values()) live?.finish(null).catch(() => {});
  }

  private async finishTurn(end: TurnEnded): Promise<void> {
    const openTurn = this.openTurns.get(end.agent);
    this.openTurns.delete(end.agent);
    if (openTurn === undefined) return;
    if (openTurn.live === null) await this.renderer.renderTurn(openTurn.turn, end);
    else await openTurn.live.finish(end);
  }
}

interface OpenTurn {
  readonly turn: TurnStarted;
  readonly live: { readonly finish: (end: TurnEnded | null) => Promise<void> } | null;
}

function followTurn(renderer: LogRenderer, turn: TurnStarted): NonNullable<OpenTurn['live']> {
  let settle: (end: TurnEnded | null) => void = () => {};
  const ended = new Promise<TurnEnded | null>((resolve) => {
    settle = resolve;
  });
  const rendered = renderer.renderLiveTurn(turn, ended);
  // The caller of `finish` gets the error.
  rendered.catch(() => {});
  return {
    finish(end) {
      settle(end);
      return rendered;
    },
  };
}
