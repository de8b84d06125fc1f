import { checkTrial, collectEvidence, type Evidence, offMicros } from './check-trial.ts';
import { type Kill, type KillTarget, type Plan, runTrial } from './crash-trial.ts';
import { createRandom, type Random } from './random.ts';
import { setUp, type TestEnvironment } from './rig.ts';
import { checkWords } from './talk.ts';

/** The kills of one run and its result. */
export interface TrialReport {
  readonly id: string;
  readonly mode: Mode;
  readonly kills: readonly Kill[];
  readonly resumes: number;
  /** What was said to the first agent. */
  readonly said: number;
  /** Exit codes of the commands that were not killed. */
  readonly exits: readonly (number | null)[];
  readonly tookMs: number;
  readonly requests: number;
  readonly spentMicros: number;
  readonly estimatedMicros: number;
  readonly chargedMicros: number;
  readonly unreportedMicros: number;
  readonly offMicros: number;
  /** Turns that failed or were lost, by kind; and sessions that could not be resumed. */
  readonly failedTurns: Readonly<Record<string, number>>;
  /** Violations of the guarantees. */
  readonly failures: readonly string[];
}

/** The targets of a run; `mixed` chooses one for each kill. */
export type Mode = 'none' | Exclude<KillTarget, 'home'> | 'mixed';

const TARGETS: Readonly<Record<Mode, readonly [KillTarget, ...KillTarget[]]>> = {
  none: ['orchestrator'],
  orchestrator: ['orchestrator'],
  turn: ['turn'],
  both: ['both'],
  mixed: ['orchestrator', 'turn', 'both'],
};

/** The options of a series of runs. */
export interface TortureOptions {
  readonly seed: number;
  readonly kills: number;
  /** The modes of the runs, taken in turn. */
  readonly modes: readonly [Mode, ...Mode[]];
  readonly maxKillsPerRun: number;
  readonly maxDelayMs: number;
  /** How many words are said to the first agent of each run that is killed; without any by default. */
  readonly words?: number;
}

/** Runs the workflow once undisturbed, then repeatedly with kills until there were enough of them. */
export async function torture(
  environment: TestEnvironment,
  options: TortureOptions,
  report: (trial: TrialReport) => void,
): Promise<readonly TrialReport[]> {
  const random = createRandom(options.seed);
  const words = { most: 0, random: createRandom(options.seed + 1) };
  const undisturbed: Plan = { targets: TARGETS.none, maxKills: 0, maxDelayMs: 0, words };
  const first = await trial(environment, `undisturbed-${options.seed}`, 'none', undisturbed, random, null);
  report(first.trial);
  const trials = [first.trial];
  let left = first.trial.failures.length === 0 ? options.kills : 0;
  for (let number = 0; left > 0 && number < options.kills * 2; number += 1) {
    const mode = options.modes[number % options.modes.length] ?? options.modes[0];
    const maxKills = Math.min(left, options.maxKillsPerRun);
    // The delay before a retry of a killed Claude turn grows each time, so let some turns succeed.
    const maxDelayMs = mode === 'orchestrator' ? options.maxDelayMs : 2 * options.maxDelayMs;
    const plan: Plan = { targets: TARGETS[mode], maxKills, maxDelayMs, words: { ...words, most: options.words ?? 0 } };
    const id = `${mode}-${number + 1}-${options.seed}`;
    const next = (await trial(environment, id, mode, plan, random, first.evidence)).trial;
    report(next);
    trials.push(next);
    left -= next.kills.length;
  }
  return trials;
}

async function trial(
  environment: TestEnvironment,
  id: string,
  mode: Mode,
  plan: Plan,
  random: Random,
  baseline: Evidence | null,
): Promise<{ trial: TrialReport; evidence: Evidence }> {
  // The model has its own generator: the number of its answers must not change the choice of kills.
  const rig = await setUp(environment, id, createRandom(Math.floor(random.next() * 2 ** 32)));
  let keep = true;
  try {
    const trial = await runTrial(rig, plan, random);
    const evidence = await collectEvidence(rig);
    const warnings = evidence.events.flatMap(({ kind, message = '' }) => (kind === 'warning' ? [message] : []));
    const failures = [...checkTrial(trial, evidence, baseline ?? evidence), ...checkWords(rig, trial.said, warnings)];
    keep = failures.length > 0;
    const failedTurns: Record<string, number> = {};
    for (const { kind, failure } of evidence.events) {
      const name = kind === 'turn_ended' ? (failure ?? null) : kind === 'session_lost' ? kind : null;
      if (name !== null) failedTurns[name] = (failedTurns[name] ?? 0) + 1;
    }
    const { kills, resumes, tookMs } = trial;
    const { requests, ledger, chargedMicros, unreportedMicros } = evidence;
    const { spentMicros, estimatedMicros } = ledger;
    const money = { spentMicros, estimatedMicros, chargedMicros, unreportedMicros, offMicros: offMicros(evidence) };
    const exits = trial.exits.map(({ code }) => code);
    const said = trial.said.length;
    return {
      trial: { id, mode, kills, resumes, said, exits, tookMs, requests, ...money, failedTurns, failures },
      evidence,
    };
  } finally {
    await rig.close(keep);
  }
}

/** The number of kills that hit a running turn. */
export const midTurn = (kills: readonly Kill[]): number => kills.filter(({ underWay }) => underWay.length > 0).length;
