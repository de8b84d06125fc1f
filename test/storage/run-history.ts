import fc from 'fast-check';
import { type AppliedStep, withChange } from '../../src/core/run/change.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import { initialEvents } from '../../src/core/step.ts';
import { RaymondError } from '../../src/errors.ts';
import { type Action, action, applyActions, CostMeter, WORKFLOW } from '../core/random-run.ts';
import { startRun } from '../core/run-driver.ts';

/** A new run and all steps after it. */
export interface RunHistory {
  readonly run: Run;
  readonly events: readonly Event[];
  readonly steps: readonly (AppliedStep & { readonly before: Run })[];
}

function historyOf(actions: readonly Action[], id = 'run-1'): RunHistory {
  const run = { ...startRun(WORKFLOW, { budgetMicros: 3_000_000 }), id };
  const steps: RunHistory['steps'][number][] = [];
  applyActions(run, actions, new CostMeter(), (before, _, after, events) => {
    steps.push({ before, ...withChange(before, { run: after, events }) });
  });
  return { run, events: initialEvents(run), steps };
}

/** Random histories: forks, calls, failures, stops and resumes in any order. */
export const randomHistory = (maxLength = 40): fc.Arbitrary<RunHistory> =>
  fc.array(action, { minLength: 1, maxLength, size: 'max' }).map((actions) => historyOf(actions));

/** A history with workers that is always the same. */
export function fixedHistory(length: number, id?: string): RunHistory {
  const texts = ['<fork next="A" n="1">B</fork>', '<call return="GATE">A</call>', '<goto>S.sh</goto>', 'no tag'];
  const actions = Array.from({ length }, (_, index): Action => {
    const text = texts[Math.floor(index / 3) % texts.length] ?? '';
    const quiet = { failure: null, progress: 'none', killed: false, denied: false, interlude: null } as const;
    return { ...quiet, pick: index % 7, text, micros: 10 };
  });
  return historyOf(actions, id);
}

/** The run after this many steps. */
export const runAfter = ({ run, steps }: RunHistory, count: number): Run => steps[count - 1]?.step.run ?? run;

/** The error with which something was refused; fails if it was not refused. */
export async function refusalOf(go: () => unknown): Promise<RaymondError> {
  try {
    await go();
  } catch (error) {
    if (error instanceof RaymondError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

/** Does something as a user other than root, because root ignores permissions. */
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
