import type { ClaudeTurn, ScriptTurn, Turn } from '../core/due.ts';
import type { AppliedStep } from '../core/event.ts';
import type { Run } from '../core/run.ts';
import type { Signal } from '../core/signal.ts';
import { step } from '../core/step.ts';
import { TurnScheduler } from '../core/turn-scheduler.ts';
import type { Inbox } from './inbox.ts';
import type { World } from './world.ts';

/**
 * Drives a run until nothing is due any more. Each round applies the signals that have come, lets due turns begin, puts
 * all of that on disk at once, and only then starts anything: the end of one turn and the intent of the next share one
 * sync.
 */
export async function drive(initial: Run, world: World, signals: Inbox<Signal>): Promise<Run> {
  let run = initial;
  const scheduler = new TurnScheduler(initial);
  const start = (turn: Turn): void => {
    const { agent } = turn;
    const number = scheduler.markStarted(agent);
    world.take(turn).then(
      (signal) => {
        // A sleep that nobody waits for any more may end late.
        if (!scheduler.isUnderWay(agent, number)) return;
        if (signal !== null) return signals.put(signal);
        scheduler.release(agent);
        signals.wakeUp();
      },
      (error) => signals.fail(error),
    );
  };
  const endUnneeded = (): void => {
    for (const agent of scheduler.takeUnneeded()) world.end(agent);
  };
  for (;;) {
    const steps: AppliedStep[] = [];
    const applySignal = (signal: Signal): void => {
      const next = step(run, signal);
      steps.push({ before: run, step: next });
      run = next.run;
      scheduler.update(signal, next);
    };
    for (const signal of signals.drain()) applySignal(signal);
    for (const signal of await Promise.all(scheduler.due().filter(isNew).map(world.prepare))) applySignal(signal);
    if (steps.length > 0) await world.save(steps);
    for (const applied of steps) world.notify(applied.step.events);
    // What is needless ends before the next turn of the same agent starts; a cancelled turn that is adopted, right after.
    endUnneeded();
    const ready = scheduler.due();
    for (const turn of ready.filter((each) => !isNew(each))) start(turn);
    endUnneeded();
    if (scheduler.isIdle && signals.isEmpty && run.status !== 'running') return run;
    if (!ready.some(isNew)) await signals.arrival();
  }
}

/** A turn that is not on record yet; a sleep and a worktree need no record. */
const isNew = (turn: Turn): turn is ClaudeTurn | ScriptTurn =>
  turn.kind !== 'sleep' && turn.kind !== 'worktree' && turn.record === null;
