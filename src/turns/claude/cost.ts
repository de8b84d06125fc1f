import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionUse } from '../../core/agent.ts';
import { type CostReport, usdToMicros } from '../../core/ledger.ts';
import { type ClaudeVersion, isAtLeast, parseClaudeVersion } from './find-claude.ts';
import { estimateUsd, type Prices } from './prices.ts';
import { findSessionFile, readSavedTotalUsd } from './session-file.ts';
import { type Transcript, totalUsage } from './transcript.ts';

/** What is known about money before a turn starts. */
export interface CostBaseline {
  /** The total that the conversation it goes on from, or is forked from, had saved; null if there was none. */
  readonly savedUsd: number | null;
  readonly prices: Prices;
}

/** From here on, `total_cost_usd` goes on from the total saved in the conversation; before, it is that of the call. */
const CONTINUES_TOTAL_SINCE: ClaudeVersion = [2, 1, 276];

/**
 * What a turn has cost, by the best that is known: what its results say they have cost since the last one; else its
 * total, less what the conversation had saved before; else an estimate from the tokens.
 *
 * What Claude Code goes on from is what it has saved, not what it has said last: a process that is killed, even after
 * its result, saves nothing.
 */
export function computeTurnCost(transcript: Transcript, { savedUsd, prices }: CostBaseline): CostReport {
  const { spentUsd, lastResult } = transcript;
  if (lastResult !== null && spentUsd !== null) return reportedCost(spentUsd);
  const total = lastResult?.totalCostUsd ?? null;
  if (total === null) return { kind: 'estimated', micros: usdToMicros(estimateUsd(totalUsage(transcript), prices)) };
  return reportedCost(total - (continuesSavedTotal(transcript.version, total, savedUsd) ? (savedUsd ?? 0) : 0));
}

const reportedCost = (usd: number): CostReport => ({ kind: 'reported', micros: usdToMicros(usd) });

/** A total below the saved one cannot have gone on from it. */
function continuesSavedTotal(reportedVersion: string | null, total: number, saved: number | null): boolean {
  const version = reportedVersion === null ? null : parseClaudeVersion(reportedVersion);
  return saved !== null && total >= saved && (version === null || isAtLeast(version, CONTINUES_TOTAL_SINCE));
}

const COST_BASELINE_FILE = 'basis.json';

/** Notes what is known about money before a turn starts: afterwards its conversation has a new total. */
export async function writeCostBaseline(
  dir: string,
  configDir: string,
  cwd: string,
  session: SessionUse,
  prices: Prices,
): Promise<void> {
  const from = session.kind === 'new' ? null : session.kind === 'fork' ? session.from : session.id;
  const file = from === null ? null : await findSessionFile(configDir, cwd, from);
  const baseline: CostBaseline = { savedUsd: file === null ? null : await readSavedTotalUsd(file), prices };
  await writeFile(join(dir, COST_BASELINE_FILE), JSON.stringify(baseline), { mode: 0o600 });
}

/** What was noted. If somebody took the note away, the turn is charged with all that it reports: rather too much. */
export async function readCostBaseline(dir: string): Promise<CostBaseline> {
  try {
    return JSON.parse(await readFile(join(dir, COST_BASELINE_FILE), 'utf8')) as CostBaseline;
  } catch {
    return { savedUsd: null, prices: {} };
  }
}
