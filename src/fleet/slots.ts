import type { World } from '../engine/world.ts';

/** Limits how many turns of Claude Code run at the same time on a worker, whichever runs they belong to. */
export class Slots {
  private free: number;
  private readonly leaving: AbortSignal;
  private readonly line: (() => void)[] = [];

  constructor(slots: number, leaving: AbortSignal) {
    this.free = slots;
    this.leaving = leaving;
    leaving.addEventListener('abort', () => {
      for (const go of this.line.splice(0)) go();
    });
  }

  /** The world of a run whose turns share the slots with those of the others. */
  wrap = (world: World): World => {
    const prepared = new Set<string>();
    return {
      ...world,
      async prepare(turn) {
        const signal = await world.prepare(turn);
        if (signal.kind === 'began') prepared.add(turn.agent);
        return signal;
      },
      take: async (turn) => {
        // What an earlier process has started runs already, slot or not.
        const isNew = turn.kind !== 'sleep' && turn.kind !== 'worktree' && prepared.delete(turn.agent);
        if (turn.kind !== 'claude') return world.take(turn);
        if (isNew && this.free <= 0) await new Promise<void>((go) => this.line.push(go));
        // It is on record and was never started: whoever goes on with the run takes it again.
        if (isNew && this.leaving.aborted) return null;
        this.free -= 1;
        try {
          return await world.take(turn);
        } finally {
          this.free += 1;
          this.line.shift()?.();
        }
      },
    };
  };
}
