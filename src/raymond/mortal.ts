import type { World } from '../engine/world.ts';

/**
 * A world that ends with a life: once that is gone, nothing is told any more and no answer comes, so that whoever waits
 * for one waits for ever and does nothing else.
 */
export function mortal(world: World, gone: AbortSignal): World {
  const whileAlive = <Given extends unknown[], Answer>(act: (...given: Given) => Promise<Answer>) => {
    return async (...given: Given): Promise<Answer> => {
      if (gone.aborted) return NEVER;
      try {
        const answer = await act(...given);
        return gone.aborted ? NEVER : answer;
      } catch (error) {
        if (gone.aborted) return NEVER;
        throw error;
      }
    };
  };
  return {
    prepare: whileAlive(world.prepare),
    take: whileAlive(world.take),
    save: whileAlive(world.save),
    tell: (events) => (gone.aborted ? undefined : world.tell(events)),
  };
}

const NEVER = new Promise<never>(() => {});
