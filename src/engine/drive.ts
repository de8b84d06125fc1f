import { commandsOf } from '../core/command.ts';
import { type AppliedStep, withChange } from '../core/run/change.ts';
import type { Run } from '../core/run/run.ts';
import type { Signal } from '../core/signals/signal.ts';
import { step } from '../core/step.ts';
import { endedTurnsOf, type PromptTurn, type ScriptTurn, type Turn } from '../core/turns/due.ts';
import { TurnScheduler } from '../core/turns/turn-scheduler.ts';
import type { SignalQueue } from './signal-queue.ts';
import type { World } from './world.ts';

/**
 * Drives a run until nothing is due any more. Each round applies the signals that have come, lets due turns begin, puts
 * all of that on disk at once, and only then does anything: the end of one turn and the intent of the next share one
 * sync. Once `leaving` is aborted and its reader was woken up, it begins nothing more and returns when the running turns have
 * ended: the run continues in another process.
 */
export async function drive(
  initial: Run,
  world: World,
  signals: SignalQueue<Signal>,
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
      const applied = withChange(run, step(run, signal));
      steps.push(applied);
      run = applied.step.run;
      scheduler.update(signal, applied);
    };
    for (const signal of signals.drain()) applySignal(signal);
    const begun = leaving.aborted ? [] : scheduler.due().filter(isNew);
    for (const signal of await Promise.all(begun.map(world.prepare))) applySignal(signal);
    if (steps.length > 0) {
      await world.save(steps);
      const saved = steps.map((applied) => applied.step);
      world.release(run, saved.flatMap(endedTurnsOf));
      world.deliver(saved.flatMap(commandsOf));
      for (const { events } of saved) world.notify(events);
    }
    // Needless turns end before the next turn of the same agent starts; a cancelled turn that is adopted ends right after.
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
const isNew = (turn: Turn): turn is PromptTurn | ScriptTurn => 'record' in turn && turn.record === null;
