import { addMicros } from '../core/run/ledger.ts';
import { addTokens, type ModelShare, NO_TOKENS, type Tokens } from '../core/run/tokens.ts';
import { formatLocalTime } from './format.ts';

/** The keys that costs can be grouped by. */
export const COST_GROUPS = ['run', 'workflow', 'state', 'model', 'day'] as const;

/** The key that costs are grouped by. */
export type CostGroup = (typeof COST_GROUPS)[number];

/** The cost of turns, with its estimated and canned parts, and their use. */
export interface CostAmount {
  readonly turns: number;
  /** Without what canned answers stand for. */
  readonly paidMicros: number;
  readonly estimatedMicros: number;
  readonly cannedMicros: number;
  readonly tokens: Tokens;
}

/** The cost of a turn, or of several that nothing else is known of. State and model are null if they are not known. */
export interface CostEntry extends CostAmount {
  readonly run: string;
  readonly workflow: string;
  readonly state: string | null;
  readonly at: number;
  readonly models: readonly ModelShare[];
}

/** The costs of a group, and of how many runs. */
export interface CostRow extends CostAmount {
  readonly key: string;
  readonly runs: number;
}

/** No costs at all. */
export const NO_COSTS: CostAmount = {
  turns: 0,
  paidMicros: 0,
  estimatedMicros: 0,
  cannedMicros: 0,
  tokens: NO_TOKENS,
};

/** The sum of two amounts. */
export const addCosts = (a: CostAmount, b: CostAmount): CostAmount => ({
  turns: a.turns + b.turns,
  paidMicros: addMicros(a.paidMicros, b.paidMicros),
  estimatedMicros: addMicros(a.estimatedMicros, b.estimatedMicros),
  cannedMicros: addMicros(a.cannedMicros, b.cannedMicros),
  tokens: addTokens(a.tokens, b.tokens),
});

const UNKNOWN = 'unknown';
const CANNED = 'canned answers';

/** Adds up costs by group. Groups are in the order of their first cost. */
export class CostTally {
  private readonly group: CostGroup;
  private readonly amounts = new Map<string, { amount: CostAmount; readonly runs: Set<string> }>();
  private readonly all = { amount: NO_COSTS, runs: new Set<string>() };

  constructor(group: CostGroup) {
    this.group = group;
  }

  /** Adds an entry. A turn that used several models is part of each of them. */
  add(entry: CostEntry): void {
    for (const [key, amount] of this.partsOf(entry)) {
      const row = this.amounts.get(key) ?? { amount: NO_COSTS, runs: new Set() };
      this.amounts.set(key, row);
      row.amount = addCosts(row.amount, amount);
      row.runs.add(entry.run);
    }
    this.all.amount = addCosts(this.all.amount, entry);
    this.all.runs.add(entry.run);
  }

  get rows(): readonly CostRow[] {
    return Array.from(this.amounts, ([key, { amount, runs }]) => ({ key, runs: runs.size, ...amount }));
  }

  get total(): Omit<CostRow, 'key'> {
    return { runs: this.all.runs.size, ...this.all.amount };
  }

  private partsOf(entry: CostEntry): readonly (readonly [key: string, amount: CostAmount])[] {
    switch (this.group) {
      case 'run':
        return [[entry.run, entry]];
      case 'workflow':
        return [[entry.workflow, entry]];
      case 'state':
        // States of different workflows have the same names.
        return [[`${entry.workflow}/${entry.state ?? UNKNOWN}`, entry]];
      case 'day':
        return [[formatLocalTime(entry.at).slice(0, '2026-01-15'.length), entry]];
      case 'model':
        return partsByModel(entry);
    }
  }
}

function partsByModel(entry: CostEntry): readonly (readonly [key: string, amount: CostAmount])[] {
  if (entry.models.length === 0) return [[entry.cannedMicros > 0 ? CANNED : UNKNOWN, entry]];
  const isEstimated = entry.estimatedMicros > 0;
  return entry.models.map(({ model, tokens, micros }) => [
    model,
    {
      turns: entry.turns,
      paidMicros: micros,
      estimatedMicros: isEstimated ? micros : 0,
      cannedMicros: 0,
      tokens,
    },
  ]);
}
