import { compare } from './compare.ts';
import type { Review } from './difference.ts';
import type { Performance } from './rehearse.ts';
import type { Piece } from './repertoire.ts';
import { staleness } from './stale.ts';
import { warningsOf } from './warnings.ts';

/** Looks at what came of a scenario: what is not as expected, what the run warned of, and what playing it has hidden. */
export async function review(piece: Piece, performance: Performance): Promise<Review> {
  const stale = await staleness(piece, performance);
  return {
    differences: [...compare(piece.rehearsal, performance), ...stale.differences],
    warnings: [...warningsOf(performance.events, piece), ...stale.warnings],
  };
}
