/** Money in whole micro-dollars: sums of them are exact. */
export const usdToMicros = (usd: number): number => Math.round(usd * 1_000_000);
export const microsToUsd = (micros: number): number => micros / 1_000_000;

/** What one turn has cost: as it said itself, or, if it was killed, as we have to guess. */
export interface CostReport {
  readonly kind: 'reported' | 'estimated';
  readonly micros: number;
}

interface StateCost {
  readonly turns: number;
  readonly micros: number;
}

/** What a run has cost. Every turn that ends is entered here, however it ended. */
export interface Ledger {
  readonly spentMicros: number;
  /** How much of that is an estimate. */
  readonly estimatedMicros: number;
  /** Finished Claude turns. */
  readonly turns: number;
  readonly states: Readonly<Record<string, StateCost>>;
}

export const EMPTY_LEDGER: Ledger = { spentMicros: 0, estimatedMicros: 0, turns: 0, states: {} };

/** Enters a finished Claude turn of a state. */
export function enterCost(ledger: Ledger, state: string, micros: number, estimated: boolean): Ledger {
  const before = Object.hasOwn(ledger.states, state) ? ledger.states[state] : undefined;
  return {
    spentMicros: ledger.spentMicros + micros,
    estimatedMicros: ledger.estimatedMicros + (estimated ? micros : 0),
    turns: ledger.turns + 1,
    states: { ...ledger.states, [state]: { turns: (before?.turns ?? 0) + 1, micros: (before?.micros ?? 0) + micros } },
  };
}

/** What a turn of this state will probably cost: the mean of its finished turns, else of all turns, else nothing. */
export function expectedMicros(ledger: Ledger, state: string): number {
  const stateCost = Object.hasOwn(ledger.states, state) ? ledger.states[state] : undefined;
  if (stateCost !== undefined) return stateCost.micros / stateCost.turns;
  return ledger.turns === 0 ? 0 : ledger.spentMicros / ledger.turns;
}
