import { addTokens, type ModelUse, NO_TOKENS, type Tokens } from './tokens.ts';

/** Converts dollars to whole micro-dollars, in which sums are exact. */
export const usdToMicros = (usd: number): number => Math.round(usd * 1_000_000);
/** Converts micro-dollars to dollars. */
export const microsToUsd = (micros: number): number => micros / 1_000_000;

/**
 * The cost of a turn: reported by Claude Code, estimated if the turn was killed before it could report, or unknown if nobody can
 * read what it said.
 */
export interface CostReport {
  readonly kind: 'reported' | 'estimated' | 'unknown';
  /** The part that is known. */
  readonly micros: number;
  /** The cost that was reported and is not believed. */
  readonly refusedUsd?: number;
  /** Its use of each model; missing if unknown. */
  readonly models?: readonly ModelUse[];
  /** True if the answer was canned: it is counted like any other, but nobody pays for it. */
  readonly canned?: boolean;
}

/** The report of a turn that may have run, and of which nobody can read what it said. */
export const unknownCost = (canned: boolean): CostReport => ({
  kind: 'unknown',
  micros: 0,
  ...(canned && { canned: true }),
});

/** No turn costs as much: a larger report is a mistake. Many such turns still add up to an exact sum. */
const MAX_TURN_MICROS = usdToMicros(10_000);

/** True if a turn can have cost that much. */
export const isPlausibleCost = (micros: number): boolean => micros >= 0 && micros <= MAX_TURN_MICROS;

/** The report with a cost that a turn can have; another one is cut off at the most that is believed. */
export function believableCost(cost: CostReport): CostReport {
  if (isPlausibleCost(cost.micros)) return { ...cost, micros: Math.round(cost.micros) };
  const { micros, refusedUsd = microsToUsd(micros) } = cost;
  return { ...cost, kind: 'estimated', micros: micros > 0 ? MAX_TURN_MICROS : 0, refusedUsd };
}

/** The estimate entered for a turn of unknown cost, until the cost is reported. */
export interface UnknownCost {
  readonly agent: string;
  readonly turn: number;
  readonly state: string;
  /** As for the turn. */
  readonly evaluator: string | null;
  readonly micros: number;
  readonly canned: boolean;
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
  /** The turns whose cost is still unknown; absent if there are none. */
  readonly unknown?: readonly UnknownCost[];
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
    ...ledger,
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

/**
 * The most that a turn may have cost of which nobody can say how far it came: its share of the budget, so that nobody else spends
 * that. Without a budget it is the average of its state, or of all turns if it is the first there.
 */
export function coverUnknown(ledger: Ledger, state: string, capMicros: number | null, cost: CostReport): CostReport {
  const micros = Math.max(cost.micros, capMicros ?? Math.round(expectedMicros(ledger, state)));
  return { ...cost, kind: 'estimated', micros };
}

/** Notes that what was entered for a turn only covers its unknown cost. */
export const recordUnknown = (ledger: Ledger, entry: UnknownCost): Ledger => ({
  ...ledger,
  unknown: [...(ledger.unknown ?? []), entry],
});

/** Enters the cost of a turn in the place of what was entered while it was unknown. */
export function replaceUnknown({ unknown = [], ...ledger }: Ledger, entry: UnknownCost, cost: EnteredCost): Ledger {
  const { state, canned } = entry;
  const moreMicros = cost.micros - entry.micros;
  const others = unknown.filter((each) => each !== entry);
  const before = Object.hasOwn(ledger.states, state) ? ledger.states[state] : undefined;
  return {
    ...ledger,
    spentMicros: addMicros(ledger.spentMicros, moreMicros),
    estimatedMicros: addMicros(ledger.estimatedMicros, (cost.estimated ? cost.micros : 0) - entry.micros),
    cannedMicros: addMicros(ledger.cannedMicros, (cost.canned ? cost.micros : 0) - (canned ? entry.micros : 0)),
    tokens: addTokens(ledger.tokens, cost.tokens),
    ...(before !== undefined && {
      states: { ...ledger.states, [state]: { ...before, micros: addMicros(before.micros, moreMicros) } },
    }),
    ...(others.length > 0 && { unknown: others }),
  };
}

/** The sum of two amounts, as long as numbers are exact. */
export const addMicros = (a: number, b: number): number => Math.min(Number.MAX_SAFE_INTEGER, a + b);

/** The average known cost of this state's finished turns; 0 before the first. */
export function averageMicros({ states, unknown = [] }: Ledger, state: string): number {
  const stateCost = Object.hasOwn(states, state) ? states[state] : undefined;
  return stateCost === undefined
    ? 0
    : averageOf(
        stateCost,
        unknown.filter((each) => each.state === state),
      );
}

/** The expected cost of a turn in this state: the state's average, or that of all turns before its first. */
export const expectedMicros = (ledger: Ledger, state: string): number =>
  averageMicros(ledger, state) || averageOf({ turns: ledger.turns, micros: ledger.spentMicros }, ledger.unknown ?? []);

/** Estimates for unknown costs do not count towards averages. */
function averageOf({ turns, micros }: StateCost, unknown: readonly UnknownCost[]): number {
  const known = unknown.reduce((rest, each) => rest - each.micros, micros);
  return Math.max(0, known) / Math.max(1, turns - unknown.length);
}
