import { join } from 'node:path';
import { buildCase } from './build-case.ts';
import type { Case } from './case.ts';
import { compareOutcomes } from './compare-outcomes.ts';
import { checkRun } from './model/check-run.ts';
import type { PairTable } from './pairs.ts';
import type { Plan } from './plan.ts';
import { type Outcome, RUN_ID, runCase } from './run-case.ts';
import { describeCase } from './write-case.ts';

/** Runs the case of a plan and compares it with the model; a failure shows the case and what was observed last. */
export async function checkPlan(plan: Plan, pairs?: PairTable): Promise<void> {
  const subject = buildCase(plan);
  const outcome = await runCase(subject).catch((error: unknown) => {
    throw new Error(`${error instanceof Error ? error.message : error}\n${describeCase(subject)}`);
  });
  const features = compareWithModel(subject, outcome);
  for (const met of features.values()) pairs?.add(met);
  if ((outcome.crashes === 0 && !subject.usesDatabase) || hasOtherWays(subject, features)) return;
  const undisturbed = await runCase({ ...subject, crashes: [], stops: [], usesDatabase: false });
  const difference = compareOutcomes(undisturbed, outcome, features);
  if (difference === null) return;
  const reason = outcome.crashes === 0 ? 'the database' : 'a crash';
  throw new Error(`${reason} makes a difference: ${difference}\n${describeCase(subject)}`);
}

/** A turn that was killed has used up its answer; and what is missing until the run pauses may be needed before or after that. */
function hasOtherWays({ lateFiles }: Case, features: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  return Object.keys(lateFiles).length > 0 || [...features.values()].some((met) => met.has('kill'));
}

const SHOWN = 12;

function compareWithModel(subject: Case, outcome: Outcome): ReturnType<typeof checkRun> {
  const { folder, run, observations, resultFiles } = outcome;
  const { ledger, iterations } = run;
  const facts = { project: join(folder, 'project'), runId: RUN_ID, observations, resultFiles, ledger, iterations };
  try {
    return checkRun(subject, facts);
  } catch (error) {
    const { message } = error as Error;
    const until = Number(/observation (\d+)/.exec(message)?.[1] ?? observations.length);
    const shown = observations.slice(0, until + 1).filter(({ kind }) => kind !== 'warning');
    const { length } = shown;
    const last = shown.slice(-SHOWN).map((each, at) => `${length - SHOWN + at + 1}: ${JSON.stringify(each)}`);
    throw new Error(`${message}\n${describeCase(subject)}\n${last.join('\n')}`.replaceAll(folder, ''));
  }
}
