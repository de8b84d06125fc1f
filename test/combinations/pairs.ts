import { FEATURES, type Feature, IMPOSSIBLE } from './features.ts';

/** Two features; twice the same for the feature itself. */
export type Pair = readonly [Feature, Feature];

/** Counts how often two features met on one agent. */
export class PairTable {
  private readonly counts = new Map<string, number>();

  add(features: ReadonlySet<string>): void {
    const met = FEATURES.filter((feature) => features.has(feature));
    for (const [at, first] of met.entries())
      for (const second of met.slice(at)) this.counts.set(keyOf(first, second), this.countOf(first, second) + 1);
  }

  countOf(first: Feature, second: Feature): number {
    return this.counts.get(keyOf(first, second)) ?? 0;
  }

  /** The pairs that can meet and never did. */
  get missing(): readonly Pair[] {
    return FEATURES.flatMap((first, at) =>
      FEATURES.slice(at).flatMap((second): Pair[] => (this.isMissing([first, second]) ? [[first, second]] : [])),
    );
  }

  isMissing([first, second]: Pair): boolean {
    return this.countOf(first, second) === 0 && !isImpossible(first, second);
  }

  /** The table as a text: a line for each feature, with the counts of those before it. */
  format(): string {
    const width = Math.max(...FEATURES.map(({ length }) => length));
    const lines = FEATURES.map((row, at) => {
      const cells = FEATURES.slice(0, at + 1).map((column) =>
        (isImpossible(row, column) ? '·' : String(this.countOf(row, column))).padStart(5),
      );
      return `${String(at + 1).padStart(3)} ${row.padEnd(width)}${cells.join('')}`;
    });
    const head = FEATURES.map((_, at) => String(at + 1).padStart(5)).join('');
    return [' '.repeat(width + 4) + head, ...lines].join('\n');
  }
}

const keyOf = (first: Feature, second: Feature): string => [first, second].sort().join(' × ');

function isImpossible(first: Feature, second: Feature): boolean {
  return IMPOSSIBLE.some(
    ([one, others]) => (one === first && others.includes(second)) || (one === second && others.includes(first)),
  );
}
