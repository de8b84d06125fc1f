import { judge, offMicros, type Remains, remainsOf } from './judge.ts';
import { type Kill, type Plan, suffer, type Victim } from './ordeal.ts';
import { type Chance, chanceOf } from './random.ts';
import { type Ground, setUp } from './rig.ts';

/** What one run had to go through and what came of it. */
export interface Trial {
  readonly id: string;
  readonly mode: Mode;
  readonly kills: readonly Kill[];
  readonly resumes: number;
  /** Exit codes of the commands that were not killed. */
  readonly exits: readonly (number | null)[];
  readonly tookMs: number;
  readonly requests: number;
  readonly spentMicros: number;
  readonly estimatedMicros: number;
  readonly chargedMicros: number;
  readonly unheardMicros: number;
  readonly offMicros: number;
  /** Turns that failed or were lost, by kind; and sessions that could not be resumed. */
  readonly failures: Readonly<Record<string, number>>;
  /** What is wrong. */
  readonly faults: readonly string[];
}

export type Mode = 'none' | Victim | 'mixed';

const VICTIMS: Readonly<Record<Mode, readonly [Victim, ...Victim[]]>> = {
  none: ['orchestrator'],
  orchestrator: ['orchestrator'],
  turn: ['turn'],
  both: ['both'],
  mixed: ['orchestrator', 'turn', 'both'],
};

export interface Torture {
  readonly seed: number;
  readonly kills: number;
  /** The modes of the runs, taken in turn. */
  readonly modes: readonly [Mode, ...Mode[]];
  readonly mostPerRun: number;
  readonly longestMs: number;
}

/** Runs the workflow once in peace, then again and again with kills until there were enough of them. */
export async function torture(ground: Ground, wish: Torture, tell: (trial: Trial) => void): Promise<readonly Trial[]> {
  const chance = chanceOf(wish.seed);
  const peaceful: Plan = { victims: VICTIMS.none, mostKills: 0, longestMs: 0 };
  const first = await trial(ground, `peace-${wish.seed}`, 'none', peaceful, chance, null);
  tell(first.trial);
  const trials = [first.trial];
  let left = first.trial.faults.length === 0 ? wish.kills : 0;
  for (let number = 0; left > 0 && number < wish.kills * 2; number += 1) {
    const mode = wish.modes[number % wish.modes.length] ?? wish.modes[0];
    const mostKills = Math.min(left, wish.mostPerRun);
    // A killed Claude turn waits longer each time before it is tried again: let some come through.
    const longestMs = mode === 'orchestrator' ? wish.longestMs : 2 * wish.longestMs;
    const plan: Plan = { victims: VICTIMS[mode], mostKills, longestMs };
    const id = `${mode}-${number + 1}-${wish.seed}`;
    const next = (await trial(ground, id, mode, plan, chance, first.remains)).trial;
    tell(next);
    trials.push(next);
    left -= next.kills.length;
  }
  return trials;
}

async function trial(
  ground: Ground,
  id: string,
  mode: Mode,
  plan: Plan,
  chance: Chance,
  peace: Remains | null,
): Promise<{ trial: Trial; remains: Remains }> {
  // The model's pace has a chance of its own: how often it is asked must not change when we kill.
  const rig = await setUp(ground, id, chanceOf(Math.floor(chance.next() * 2 ** 32)));
  let keep = true;
  try {
    const ordeal = await suffer(rig, plan, chance);
    const remains = await remainsOf(rig);
    const faults = judge(ordeal, remains, peace ?? remains);
    keep = faults.length > 0;
    const failures: Record<string, number> = {};
    for (const { kind, failure } of remains.events) {
      const name = kind === 'turn_ended' ? (failure ?? null) : kind === 'session_lost' ? kind : null;
      if (name !== null) failures[name] = (failures[name] ?? 0) + 1;
    }
    const { kills, resumes, tookMs } = ordeal;
    const { requests, ledger, chargedMicros, unheardMicros } = remains;
    const { spentMicros, estimatedMicros } = ledger;
    const money = { spentMicros, estimatedMicros, chargedMicros, unheardMicros, offMicros: offMicros(remains) };
    const exits = ordeal.exits.map(({ code }) => code);
    return { trial: { id, mode, kills, resumes, exits, tookMs, requests, ...money, failures, faults }, remains };
  } finally {
    await rig.close(keep);
  }
}

/** Kills that hit a run while a turn was under way. */
export const midTurn = (kills: readonly Kill[]): number => kills.filter(({ underWay }) => underWay.length > 0).length;
