import { type ClaudeTurn, due, type ScriptTurn, type Turn } from '../core/due.ts';
import type { Taken } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import { step } from '../core/step.ts';
import type { Inbox } from './inbox.ts';
import type { World } from './world.ts';

/**
 * Drives a run until nothing is due any more. Each round takes in what was said, lets what is due begin, puts all of
 * that on disk at once, and only then starts anything: the end of one turn and the intent of the next share one sync.
 */
export async function drive(start: Run, world: World, signals: Inbox<Signal>): Promise<Run> {
  let run = start;
  /** Agents whose turn was started and whose signal has not been taken in yet. */
  const underWay = new Set<string>();
  const dropped = (agent: string): void => {
    underWay.delete(agent);
    signals.nudge();
  };
  for (;;) {
    const steps: Taken[] = [];
    const takeIn = (signal: Signal): void => {
      const next = step(run, signal);
      steps.push({ before: run, step: next });
      run = next.run;
    };
    for (const signal of signals.drain()) {
      takeIn(signal);
      if ('agent' in signal) underWay.delete(signal.agent);
    }
    for (const signal of await Promise.all(due(run, underWay).filter(isNew).map(world.prepare))) takeIn(signal);
    if (steps.length > 0) await world.save(steps);
    for (const taken of steps) world.tell(taken.step.events);
    const ready = due(run, underWay);
    for (const turn of ready.filter((each) => !isNew(each))) {
      underWay.add(turn.agent);
      world.take(turn).then(
        (signal) => (signal === null ? dropped(turn.agent) : signals.put(signal)),
        (error) => signals.fail(error),
      );
    }
    if (underWay.size === 0 && signals.isEmpty && run.status !== 'running') return run;
    if (!ready.some(isNew)) await signals.arrival();
  }
}

/** A turn that is not on record yet; a sleep needs no record. */
const isNew = (turn: Turn): turn is ClaudeTurn | ScriptTurn => turn.kind !== 'sleep' && turn.record === null;
