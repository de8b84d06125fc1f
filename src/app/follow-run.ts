import type { Event } from '../core/run/event.ts';
import { afterStep, type JournaledStep, type RunStorage } from '../storage/storage.ts';

/** The events of one step of a run, under its number in the journal. */
export interface RunStep {
  readonly seq: number;
  readonly events: readonly Event[];
}

/** Reads the steps of a run after a step, as far as the journal has them. */
export const readSteps = (id: string, { journal }: RunStorage, after: number): AsyncGenerator<RunStep> =>
  toRunSteps(journal.read(id, afterStep(after)));

/** Follows a run: its steps after a step, those to come included, until the signal. It continues when the run is resumed. */
export const followSteps = (
  id: string,
  { journal }: RunStorage,
  after: number,
  stop: AbortSignal,
): AsyncGenerator<RunStep> => toRunSteps(journal.follow(id, afterStep(after), stop));

/** Steps without events are of no interest. */
async function* toRunSteps(steps: AsyncIterable<JournaledStep>): AsyncGenerator<RunStep> {
  for await (const { seq, change } of steps) if (change.events.length > 0) yield { seq, events: change.events };
}
