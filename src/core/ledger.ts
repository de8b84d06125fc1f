import { addTokens, type ModelUse, NO_TOKENS, type Tokens } from './tokens.ts';

/** Converts dollars to whole micro-dollars, in which sums are exact. */
export const usdToMicros = (usd: number): number => Math.round(usd * 1_000_000);
/** Converts micro-dollars to dollars. */
export const microsToUsd = (micros: number): number => micros / 1_000_000;

/** The cost of a turn: reported by Claude Code, or estimated if the turn was killed before it could report. */
export interface CostReport {
  readonly kind: 'reported' | 'estimated';
  readonly micros: number;
  /** The cost that was reported and is not believed. */
  readonly refusedUsd?: number;
  /** What it used of each model; missing if nothing is known of that. */
  readonly models?: readonly ModelUse[];
  /** Whether the answer was canned: it is counted like any other, but nobody pays for it. */
  readonly canned?: boolean;
}

/** No turn costs as much: whoever reports more is mistaken. Many such turns still add up to an exact sum. */
const MAX_TURN_MICROS = usdToMicros(10_000);

/** Whether a turn can have cost that much. */
export const isPlausibleCost = (micros: number): boolean => micros >= 0 && micros <= MAX_TURN_MICROS;

/** The report with a cost that a turn can have; another one is cut off at the most that is believed. */
export function believableCost(cost: CostReport): CostReport {
  if (isPlausibleCost(cost.micros)) return { ...cost, micros: Math.round(cost.micros) };
  const { micros, refusedUsd = microsToUsd(micros) } = cost;
  return { ...cost, kind: 'estimated', micros: micros > 0 ? MAX_TURN_MICROS : 0, refusedUsd };
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
  /** The part of it that canned answers stand for: nobody paid it. */
  readonly cannedMicros: number;
  readonly tokens: Tokens;
  /** The number of finished Claude turns. */
  readonly turns: number;
  readonly states: Readonly<Record<string, StateCost>>;
}

/** The ledger of a run that has not begun. */
export const EMPTY_LEDGER: Ledger = {
  spentMicros: 0,
  estimatedMicros: 0,
  cannedMicros: 0,
  tokens: NO_TOKENS,
  turns: 0,
  states: {},
};

/** The cost of a turn as it is entered. */
export interface EnteredCost {
  readonly micros: number;
  readonly estimated: boolean;
  readonly canned: boolean;
  readonly tokens: Tokens;
}

/** Enters the cost of a finished Claude turn. */
export function enterCost(ledger: Ledger, state: string, cost: EnteredCost): Ledger {
  const { micros, estimated, canned, tokens } = cost;
  const before = Object.hasOwn(ledger.states, state) ? ledger.states[state] : undefined;
  return {
    spentMicros: addMicros(ledger.spentMicros, micros),
    estimatedMicros: addMicros(ledger.estimatedMicros, estimated ? micros : 0),
    cannedMicros: addMicros(ledger.cannedMicros, canned ? micros : 0),
    tokens: addTokens(ledger.tokens, tokens),
    turns: ledger.turns + 1,
    states: {
      ...ledger.states,
      [state]: { turns: (before?.turns ?? 0) + 1, micros: addMicros(before?.micros ?? 0, micros) },
    },
  };
}

/** The sum of two amounts, as long as numbers are exact. */
export const addMicros = (a: number, b: number): number => Math.min(Number.MAX_SAFE_INTEGER, a + b);

/** What the finished turns of this state have cost on average; 0 before the first. */
export function averageMicros(ledger: Ledger, state: string): number {
  const stateCost = Object.hasOwn(ledger.states, state) ? ledger.states[state] : undefined;
  return stateCost === undefined ? 0 : stateCost.micros / stateCost.turns;
}
