import fc from 'fast-check';
import type { Event, Step } from '../../src/core/event.ts';
import type { Run } from '../../src/core/run.ts';
import { initialEvents } from '../../src/core/step.ts';
import { RaymondError } from '../../src/errors.ts';
import { start } from '../core/play.ts';
import { type Action, action, BOOK, CostMeter, playOn } from '../core/random-play.ts';

/** A run from its beginning, and every step that was taken in it. */
export interface Story {
  readonly run: Run;
  readonly events: readonly Event[];
  readonly steps: readonly { readonly before: Run; readonly step: Step }[];
}

function storyOf(actions: readonly Action[], id = 'run-1'): Story {
  const run = { ...start(BOOK, { budgetMicros: 3_000_000 }), id };
  const steps: { before: Run; step: Step }[] = [];
  playOn(run, actions, new CostMeter(), (before, _, after, events) => {
    steps.push({ before, step: { run: after, events } });
  });
  return { run, events: initialEvents(run), steps };
}

/** Random stories: forks, calls, failures, stops and resumes in any order. */
export const story = (maxLength = 40): fc.Arbitrary<Story> =>
  fc.array(action, { minLength: 1, maxLength, size: 'max' }).map((actions) => storyOf(actions));

/** One and the same story each time, with workers in it. */
export function fixedStory(length: number, id?: string): Story {
  const texts = ['<fork next="A" n="1">B</fork>', '<call return="GATE">A</call>', '<goto>S.sh</goto>', 'no tag'];
  const actions = Array.from({ length }, (_, index): Action => {
    const text = texts[Math.floor(index / 3) % texts.length] ?? '';
    const quiet = { failure: null, progress: 'none', killed: false, denied: false, interlude: null } as const;
    return { ...quiet, pick: index % 7, text, micros: 10 };
  });
  return storyOf(actions, id);
}

/** The run as it was after so many steps. */
export const runAfter = ({ run, steps }: Story, count: number): Run => steps[count - 1]?.step.run ?? run;

/** What was refused, and must have been. */
export async function refusalOf(go: () => unknown): Promise<RaymondError> {
  try {
    await go();
  } catch (error) {
    if (error instanceof RaymondError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

/** Does something as a user who is not root, for whom permissions count. */
export async function asNobody<T>(go: () => Promise<T>): Promise<T> {
  const { geteuid, seteuid } = process;
  if (geteuid === undefined || seteuid === undefined || geteuid() !== 0) return go();
  seteuid(65534);
  try {
    return await go();
  } finally {
    seteuid(0);
  }
}
