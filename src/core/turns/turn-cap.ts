import { countPhases, countTurns, sumClaudeTurns } from '../run/agent-index.ts';
import { averageMicros, expectedMicros } from '../run/ledger.ts';
import { parallelTurns } from '../run/quota.ts';
import type { Run } from '../run/run.ts';

/**
 * The capacity for further Claude turns. The caps of all running turns together never exceed what is left of the
 * budget, so a run exceeds it by at most one request for each of them.
 */
interface Capacity {
  readonly running: number;
  readonly slots: number;
  /** The agents that may want a Claude turn sooner or later and have none under way. */
  readonly candidates: number;
  /** The budget left besides the caps of the running turns; infinite without a budget. */
  readonly unreservedMicros: number;
}

/** The budget and slots left besides the running Claude turns. */
export function claudeCapacity(run: Run): Capacity {
  const { agents, ledger } = run;
  const { budgetMicros } = run.options;
  const { count: running, capMicros, uncapped } = sumClaudeTurns(agents);
  const { ready, sleeping, worktree } = countPhases(agents);
  // A turn without a cap, begun when the run had no budget, may need all that is left.
  const reservedMicros = uncapped > 0 ? Number.POSITIVE_INFINITY : capMicros;
  return {
    running,
    slots: (parallelTurns(run) ?? Number.POSITIVE_INFINITY) - running,
    candidates: ready + countTurns(agents) + sleeping + worktree - running,
    unreservedMicros:
      budgetMicros === null ? Number.POSITIVE_INFINITY : budgetMicros - ledger.spentMicros - reservedMicros,
  };
}

/**
 * The most that the next turn in this state may cost: an equal share of what is unreserved, but at least twice what the
 * state has cost on average. Null if that much is not free: it waits until a running turn ends. If none is running, it
 * gets all that is left.
 */
export function capOfNextTurn(run: Run, state: string, capacity: Capacity): number | null {
  const { ledger } = run;
  const { running, slots, candidates, unreservedMicros } = capacity;
  if (slots <= 0 || unreservedMicros <= 0) return null;
  if (unreservedMicros === Number.POSITIVE_INFINITY) return unreservedMicros;
  const shares = Math.max(1, Math.min(candidates, slots), sharesPerTurn(run, state, unreservedMicros));
  const equalShare = unreservedMicros / shares;
  const share = Math.max(1, Math.floor(Math.max(equalShare, 2 * averageMicros(ledger, state))));
  if (share <= unreservedMicros) return share;
  return running === 0 ? unreservedMicros : null;
}

/**
 * The share of a turn whose worker is lost counts as spent. Where its agent continues at another worker, as much is kept for that as
 * the turn gets, if that is plenty by what turns have cost so far.
 */
function sharesPerTurn({ agents, options, ledger }: Run, state: string, unreservedMicros: number): number {
  if (options.whenLost !== 'rehome' || agents[0]?.node == null) return 1;
  const expected = expectedMicros(ledger, state);
  return expected > 0 && unreservedMicros / 2 >= 2 * expected ? 2 : 1;
}

/** The budget and slots left once a turn with this cap has started. */
export function reserveTurn(capacity: Capacity, capMicros: number): Capacity {
  const { running, slots, candidates, unreservedMicros } = capacity;
  return {
    running: running + 1,
    slots: slots - 1,
    candidates: candidates - 1,
    unreservedMicros: unreservedMicros === Number.POSITIVE_INFINITY ? unreservedMicros : unreservedMicros - capMicros,
  };
}

/** A cap as it is kept in a run, where null stands for none. */
export const toKeptCap = (capMicros: number): number | null => (Number.isFinite(capMicros) ? capMicros : null);
