/** Money in whole micro-dollars: sums of them are exact. */
export const microsOf = (usd: number): number => Math.round(usd * 1_000_000);
export const usdOf = (micros: number): number => micros / 1_000_000;

/** What a turn said, or what we have to guess, about its cost. */
export type CostReport =
  /** `continues`: the total goes on from what the conversation had already cost; otherwise it started from zero. */
  | { readonly kind: 'reported'; readonly totalMicros: number; readonly continues: boolean }
  | { readonly kind: 'estimated'; readonly micros: number };

interface Tally {
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
  readonly states: Readonly<Record<string, Tally>>;
}

export const EMPTY_LEDGER: Ledger = { spentMicros: 0, estimatedMicros: 0, turns: 0, states: {} };

/** The cost of one turn, given the last total of the conversation it went on from. Never negative. */
export function turnMicros(report: CostReport | null, lastTotalMicros: number): number {
  if (report === null) return 0;
  if (report.kind === 'estimated') return Math.max(0, report.micros);
  return Math.max(0, report.totalMicros - (report.continues ? lastTotalMicros : 0));
}

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
  const tally = Object.hasOwn(ledger.states, state) ? ledger.states[state] : undefined;
  if (tally !== undefined) return tally.micros / tally.turns;
  return ledger.turns === 0 ? 0 : ledger.spentMicros / ledger.turns;
}
