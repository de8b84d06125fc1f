import type { World } from '../engine/world.ts';

/**
 * A world that ends with a life: once that is gone, nothing is told any more and no answer comes, so that whoever waits
 * for one waits for ever and does nothing else.
 */
export function killable(world: World, killed: AbortSignal): World {
  const unlessKilled = <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      if (killed.aborted) return NEVER;
      try {
        const result = await method(...args);
        return killed.aborted ? NEVER : result;
      } catch (error) {
        if (killed.aborted) return NEVER;
        throw error;
      }
    };
  };
  return {
    prepare: unlessKilled(world.prepare),
    take: unlessKilled(world.take),
    save: unlessKilled(world.save),
    tell: (events) => (killed.aborted ? undefined : world.tell(events)),
  };
}

const NEVER = new Promise<never>(() => {});
