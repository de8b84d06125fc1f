import { isPrompt } from '../../language/state-names.ts';
import type { Options } from '../options/options.ts';
import { countTurns, sumClaudeTurns } from '../run/agent-index.ts';
import { parallelTurns } from '../run/quota.ts';
import type { Run } from '../run/run.ts';

/**
 * Reasons why a ready agent has no turn yet: no Claude turn may start, no place is free for one, too little of the budget is
 * free, or as many scripts as permitted are running.
 */
export type TurnWait = 'hold' | 'place' | 'budget' | 'scripts';

/** The facts that decide whether another turn may start. */
export interface TurnTraffic {
  /** True if a usage limit, or credentials that are being tried again, keep every Claude turn from starting. */
  readonly isHeld: boolean;
  /** The Claude turns that are under way. */
  readonly running: number;
  readonly parallel: number | null;
  readonly hasBudget: boolean;
  readonly runningScripts: number;
  readonly parallelScripts: number | null;
}

/**
 * Finds what a ready agent in this state waits for; null if its turn starts at once. A turn that is neither held nor without a
 * place can only lack its share of the budget, which is all reserved for those that are running.
 */
export function findTurnWait(state: string, traffic: TurnTraffic): TurnWait | null {
  const { isHeld, running, parallel, hasBudget, runningScripts, parallelScripts } = traffic;
  if (!isPrompt(state)) return parallelScripts !== null && runningScripts >= parallelScripts ? 'scripts' : null;
  if (isHeld) return 'hold';
  if (parallel !== null && running >= parallel) return 'place';
  return hasBudget && running > 0 ? 'budget' : null;
}

/** The turns of a run, as far as they decide whether another may start. */
export function turnTrafficOf(run: Run): TurnTraffic {
  const { agents, hold, options } = run;
  const { count: running } = sumClaudeTurns(agents);
  return {
    isHeld: hold !== null,
    running,
    parallel: parallelTurns(run),
    hasBudget: options.budgetMicros !== null,
    runningScripts: countTurns(agents) - running,
    parallelScripts: options.parallelScripts,
  };
}

/** True if a run sleeps until a usage limit ends; otherwise it pauses. */
export const waitsUntil = ({ wait, maxWaitMs }: Options, untilMs: number, at: number): boolean =>
  wait && (!maxWaitMs || untilMs - at <= maxWaitMs);
