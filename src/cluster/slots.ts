import type { World } from '../engine/world.ts';
import type { Clock } from '../process/clock.ts';
import type { TurnName } from '../storage/storage.ts';
import { failedSignal } from '../turns/signals.ts';

/** Lets others see that a turn waits for a slot; the function that it returns, that it waits no longer. */
type NoteQueued = (run: string, turn: TurnName) => () => void;

/** Limits how many turns of Claude Code run at the same time on a worker, whichever runs they belong to. */
export class Slots {
  private free: number;
  private readonly leaving: AbortSignal;
  private readonly clock: Clock;
  private readonly recordQueued: NoteQueued;
  /** The turns that stand in line, the first first: each is told whether it has a slot now, or is not to wait any more. */
  private readonly line = new Set<(hasSlot: boolean) => void>();

  constructor(slots: number, leaving: AbortSignal, clock: Clock, recordQueued: NoteQueued) {
    this.free = slots;
    this.recordQueued = recordQueued;
    this.clock = clock;
    this.leaving = leaving;
    leaving.addEventListener('abort', () => {
      for (const go of [...this.line]) go(false);
    });
  }

  /** The world of a run whose turns share the slots with those of the others; `kill` is aborted when all of its turns are to end. */
  wrap = (world: World, run: string, kill: AbortSignal): World => {
    const prepared = new Set<string>();
    /** The signals that take an agent out of the line. */
    const inLine = new Map<string, () => void>();
    kill.addEventListener('abort', () => {
      for (const leave of [...inLine.values()]) leave();
    });
    const standInLine = ({ agent, number }: TurnName): Promise<boolean> =>
      new Promise((done) => {
        const forget = this.recordQueued(run, { agent, number });
        const go = (hasSlot: boolean): void => {
          forget();
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
        // Turns that an earlier process started already run, slot or not.
        const isNew = turn.kind !== 'sleep' && turn.kind !== 'worktree' && prepared.delete(agent);
        if (turn.kind !== 'claude') return world.take(turn);
        // It is on record and was never started: the next driver of the run takes it again.
        if (isNew && this.leaving.aborted) return null;
        if (!isNew || this.free > 0) this.free -= 1;
        else if (kill.aborted || !(await standInLine(turn))) {
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
      deliver(commands) {
        world.deliver(commands);
        // A turn that has not begun is interrupted here.
        for (const { kind, agent } of commands) if (kind === 'interrupt') inLine.get(agent)?.();
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
