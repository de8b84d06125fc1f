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
 * sync. Once `leaving` is aborted and its reader was woken up, it begins nothing more and returns when the running turns have
 * ended: the run goes on in another process.
 */
export async function drive(
  initial: Run,
  world: World,
  signals: Inbox<Signal>,
  leaving: Pick<AbortSignal, 'aborted'> = { aborted: false },
): Promise<Run> {
  let run = initial;
  let runningTurns = 0;
  const scheduler = new TurnScheduler(initial);
  const start = (turn: Turn): void => {
    const { agent } = turn;
    const number = scheduler.markStarted(agent);
    const isRunning = turn.kind !== 'sleep';
    if (isRunning) runningTurns += 1;
    world.take(turn).then(
      (signal) => {
        if (isRunning) runningTurns -= 1;
        if (leaving.aborted) signals.wakeUp();
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
    const begun = leaving.aborted ? [] : scheduler.due().filter(isNew);
    for (const signal of await Promise.all(begun.map(world.prepare))) applySignal(signal);
    if (steps.length > 0) await world.save(steps);
    for (const applied of steps) world.notify(applied.step.events);
    // What is needless ends before the next turn of the same agent starts; a cancelled turn that is adopted, right after.
    endUnneeded();
    if (leaving.aborted && runningTurns === 0 && signals.isEmpty) return run;
    const ready = leaving.aborted ? [] : scheduler.due();
    for (const turn of ready.filter((each) => !isNew(each))) start(turn);
    endUnneeded();
    if (scheduler.isIdle && signals.isEmpty && run.status !== 'running') return run;
    if (!ready.some(isNew)) await signals.arrival();
  }
}

/** A turn that is not on record yet; a sleep, a worktree and the clone of a run need no record. */
const isNew = (turn: Turn): turn is ClaudeTurn | ScriptTurn => 'record' in turn && turn.record === null;
