/** Converts dollars to whole micro-dollars, in which sums are exact. */
export const usdToMicros = (usd: number): number => Math.round(usd * 1_000_000);
/** Converts micro-dollars to dollars. */
export const microsToUsd = (micros: number): number => micros / 1_000_000;

/** The cost of a turn: reported by Claude Code, or estimated if the turn was killed before it could report. */
export interface CostReport {
  readonly kind: 'reported' | 'estimated';
  readonly micros: number;
}

interface StateCost {
  readonly turns: number;
  readonly micros: number;
}

/** The costs of a run. Every turn that ends is entered, however it ended. */
export interface Ledger {
  readonly spentMicros: number;
  /** The estimated part of it. */
  readonly estimatedMicros: number;
  /** The number of finished Claude turns. */
  readonly turns: number;
  readonly states: Readonly<Record<string, StateCost>>;
}

/** The ledger of a run that has not begun. */
export const EMPTY_LEDGER: Ledger = { spentMicros: 0, estimatedMicros: 0, turns: 0, states: {} };

/** Enters the cost of a finished Claude turn. */
export function enterCost(ledger: Ledger, state: string, micros: number, estimated: boolean): Ledger {
  const before = Object.hasOwn(ledger.states, state) ? ledger.states[state] : undefined;
  return {
    spentMicros: ledger.spentMicros + micros,
    estimatedMicros: ledger.estimatedMicros + (estimated ? micros : 0),
    turns: ledger.turns + 1,
    states: { ...ledger.states, [state]: { turns: (before?.turns ?? 0) + 1, micros: (before?.micros ?? 0) + micros } },
  };
}

/** What the finished turns of this state have cost on average; 0 before the first. */
export function averageMicros(ledger: Ledger, state: string): number {
  const stateCost = Object.hasOwn(ledger.states, state) ? ledger.states[state] : undefined;
  return stateCost === undefined ? 0 : stateCost.micros / stateCost.turns;
}
