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
    /** Agents that stand in line, and those of them that are to end. */
    const inLine = new Set<string>();
    const unneeded = new Set<string>();
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
        if (isNew && this.free <= 0) {
          inLine.add(agent);
          await new Promise<void>((go) => this.line.push(go));
          inLine.delete(agent);
        }
        // It is on record and was never started: whoever goes on with the run takes it again.
        if (isNew && this.leaving.aborted) return null;
        this.free -= 1;
        try {
          const taken = world.take(turn);
          // It tells how it ended, as any other.
          if (unneeded.delete(agent)) world.end(agent);
          return await taken;
        } finally {
          this.free += 1;
          this.line.shift()?.();
        }
      },
      end(agent) {
        if (inLine.has(agent)) unneeded.add(agent);
        else world.end(agent);
      },
    };
  };
}
