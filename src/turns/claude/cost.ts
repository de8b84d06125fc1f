import { type CostReport, microsOf } from '../../core/ledger.ts';
import { estimateUsd, type Prices } from './prices.ts';
import { type Transcript, totalUsage } from './transcript.ts';
import { isAtLeast, parseVersion, type Version } from './version.ts';

/** What is known about money before a turn starts. */
export interface CostBasis {
  /** The total that the conversation it goes on from, or is forked from, had saved; null if there was none. */
  readonly savedUsd: number | null;
  readonly prices: Prices;
}

/** From here on, `total_cost_usd` goes on from the total saved in the conversation; before, it is that of the call. */
const CONTINUES: Version = [2, 1, 276];

/**
 * What a turn has cost, by the best that is known: what its results say they have cost since the last one; else its
 * total, less what the conversation had saved before; else an estimate from the tokens.
 *
 * What Claude Code goes on from is what it has saved, not what it has said last: a process that is killed, even after
 * its result, saves nothing.
 */
export function costOf(transcript: Transcript, { savedUsd, prices }: CostBasis): CostReport {
  const { spentUsd, lastResult } = transcript;
  if (lastResult !== null && spentUsd !== null) return reported(spentUsd);
  const total = lastResult?.totalCostUsd ?? null;
  if (total === null) return { kind: 'estimated', micros: microsOf(estimateUsd(totalUsage(transcript), prices)) };
  return reported(total - (goesOn(transcript.version, total, savedUsd) ? (savedUsd ?? 0) : 0));
}

const reported = (usd: number): CostReport => ({ kind: 'reported', micros: microsOf(usd) });

/** A total below the saved one cannot have gone on from it. */
function goesOn(said: string | null, total: number, saved: number | null): boolean {
  const version = said === null ? null : parseVersion(said);
  return saved !== null && total >= saved && (version === null || isAtLeast(version, CONTINUES));
}
