import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { SessionUse } from '../../core/agent.ts';
import type { TurnRef } from '../../core/due.ts';
import { type CostReport, isPlausibleCost, usdToMicros } from '../../core/ledger.ts';
import { readJsonFile } from '../json-file.ts';
import type { TurnContext } from '../turn-context.ts';
import { type ClaudeVersion, isAtLeast, parseClaudeVersion } from './find-claude.ts';
import { estimateUsd, type Prices } from './prices.ts';
import { findSessionFile, readSavedTotalUsd } from './session-file.ts';
import { type Transcript, totalUsage } from './transcript.ts';

/** The costs that are known before a turn starts. */
export interface CostBaseline {
  /** The total saved by the conversation that the turn resumes or forks; null if there was none. */
  readonly savedUsd: number | null;
  readonly prices: Prices;
}

const COST_BASELINE_SCHEMA: z.ZodType<CostBaseline> = z.object({
  savedUsd: z.number().nonnegative().nullable(),
  prices: z.record(z.string(), z.number().nonnegative()),
});

/**
 * From this version on, `total_cost_usd` includes the total saved in the conversation; before, it is that of the call.
 */
const CONTINUES_TOTAL_SINCE: ClaudeVersion = [2, 1, 276];

/**
 * Computes what a turn has cost from the best that is known: the costs since the last result, if its results name them;
 * else its total, less the total that the conversation had saved before; else, also if no turn can cost as much, an
 * estimate from the tokens.
 *
 * Claude Code goes on from the total it has saved, not from the one it has reported last: a process that is killed,
 * even after its result, saves nothing.
 */
export function computeTurnCost(transcript: Transcript, { savedUsd, prices }: CostBaseline): CostReport {
  const usd = reportedUsd(transcript, savedUsd);
  if (usd !== null && isPlausibleCost(usdToMicros(usd))) return { kind: 'reported', micros: usdToMicros(usd) };
  const micros = usdToMicros(estimateUsd(totalUsage(transcript), prices));
  return { kind: 'estimated', micros, ...(usd !== null && { refusedUsd: usd }) };
}

function reportedUsd({ spentUsd, lastResult, version }: Transcript, savedUsd: number | null): number | null {
  if (lastResult !== null && spentUsd !== null) return spentUsd;
  const total = lastResult?.totalCostUsd ?? null;
  return total === null ? null : total - (continuesSavedTotal(version, total, savedUsd) ? (savedUsd ?? 0) : 0);
}

/** A total below the saved one cannot include it. */
function continuesSavedTotal(reportedVersion: string | null, total: number, saved: number | null): boolean {
  const version = reportedVersion === null ? null : parseClaudeVersion(reportedVersion);
  return saved !== null && total >= saved && (version === null || isAtLeast(version, CONTINUES_TOTAL_SINCE));
}

const COST_BASELINE_FILE = 'basis.json';

/** Writes down the costs that are known before a turn starts: afterwards its conversation has a new total. */
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

/**
 * Reads the costs that were known before a turn started. If the file is damaged or gone, the turn is charged with all
 * that it reports, which may be too much but never lets a run exceed its budget; of a damaged one the author is warned.
 */
export function readCostBaseline(context: TurnContext, turn: TurnRef): CostBaseline {
  const found = readJsonFile(join(context.folderOf(turn), COST_BASELINE_FILE), COST_BASELINE_SCHEMA);
  if (found.kind === 'data') return found.data;
  if (found.kind === 'damaged') {
    context.warn(turn, `${found.message}. The turn is charged with the total of its conversation.`);
  }
  return UNKNOWN_COSTS;
}

/** The baseline of a turn of which nothing is known. */
export const UNKNOWN_COSTS: CostBaseline = { savedUsd: null, prices: {} };
