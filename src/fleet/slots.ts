import type { World } from '../engine/world.ts';
import type { Clock } from '../turns/clock.ts';
import { failedSignal } from '../turns/signals.ts';

/** Limits how many turns of Claude Code run at the same time on a worker, whichever runs they belong to. */
export class Slots {
  private free: number;
  private readonly leaving: AbortSignal;
  private readonly clock: Clock;
  /** The turns that stand in line, the first first: each is told whether it has a slot now, or is not to wait any more. */
  private readonly line = new Set<(hasSlot: boolean) => void>();

  constructor(slots: number, leaving: AbortSignal, clock: Clock) {
    this.free = slots;
    this.clock = clock;
    this.leaving = leaving;
    leaving.addEventListener('abort', () => {
      for (const go of [...this.line]) go(false);
    });
  }

  /** The world of a run whose turns share the slots with those of the others; `kill` is aborted when all of its turns are to end. */
  wrap = (world: World, kill: AbortSignal): World => {
    const prepared = new Set<string>();
    /** What takes an agent out of the line. */
    const inLine = new Map<string, () => void>();
    kill.addEventListener('abort', () => {
      for (const leave of [...inLine.values()]) leave();
    });
    const standInLine = (agent: string): Promise<boolean> =>
      new Promise((done) => {
        const go = (hasSlot: boolean): void => {
          this.line.delete(go);
          inLine.delete(agent);
          done(hasSlot);
        };
        this.line.add(go);
        inLine.set(agent, () => go(false));
      });
    return {
      ...world,
      async prepare(turn) {
        const signal = await world.prepare(turn);
        if (signal.kind === 'began') prepared.add(turn.agent);
        return signal;
      },
      take: async (turn) => {
        const { agent } = turn;
        // What an earlier process has started runs already, slot or not.
        const isNew = turn.kind !== 'sleep' && turn.kind !== 'worktree' && prepared.delete(agent);
        if (turn.kind !== 'claude') return world.take(turn);
        // It is on record and was never started: whoever goes on with the run takes it again.
        if (isNew && this.leaving.aborted) return null;
        if (!isNew || this.free > 0) this.free -= 1;
        else if (kill.aborted || !(await standInLine(agent))) {
          if (this.leaving.aborted) return null;
          return failedSignal(turn, this.clock.now(), { kind: 'stopped', message: 'It was ended before it began.' });
        }
        try {
          return await world.take(turn);
        } finally {
          this.release();
        }
      },
      end(agent) {
        const leave = inLine.get(agent);
        if (leave === undefined) world.end(agent);
        else leave();
      },
      notify(events) {
        world.notify(events);
        // Who interrupts a turn that has not begun finds it nowhere else.
        for (const event of events) if (event.kind === 'turn_interrupted') inLine.get(event.agent)?.();
      },
    };
  };

  /** Gives a slot back, or to the first in line. */
  private release(): void {
    const [next] = this.line;
    if (next === undefined || this.free < 0) this.free += 1;
    else next(true);
  }
}
