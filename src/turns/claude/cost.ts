import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { SessionUse } from '../../core/run/agent.ts';
import { type CostReport, isPlausibleCost, usdToMicros } from '../../core/run/ledger.ts';
import type { ModelUse } from '../../core/run/tokens.ts';
import type { TurnRef } from '../../core/turns/due.ts';
import { readJsonFile } from '../../json-file.ts';
import type { TurnContext } from '../turn-context.ts';
import type { ModelCost } from './event.ts';
import { type ClaudeVersion, isAtLeast, parseClaudeVersion } from './find-claude.ts';
import { findSessionFile, readSavedTotalUsd } from './session-file.ts';
import { type Transcript, totalUsage } from './transcript.ts';
import { NO_USAGE, subtractUsage, type Usage, weighTokens } from './usage.ts';

const TOKEN_COUNT = z.number().nonnegative();

/** The total that an open process reported before a turn: it keeps counting from there. */
const REPORTED_COSTS = z.object({
  totalUsd: z.number().nonnegative(),
  models: z.array(
    z.object({
      model: z.string(),
      costUsd: z.number().nonnegative(),
      usage: z.object({
        input: TOKEN_COUNT,
        output: TOKEN_COUNT,
        cacheRead: TOKEN_COUNT,
        cacheWrite: TOKEN_COUNT,
        cacheWriteLong: TOKEN_COUNT,
      }),
    }),
  ),
});

/** The costs that a process has reported up to now. */
export type ReportedCosts = z.infer<typeof REPORTED_COSTS>;

const COST_BASELINE_SCHEMA = z.object({
  /** The total saved by the conversation that the turn resumes or forks; null if there was none. */
  savedUsd: z.number().nonnegative().nullable(),
  prices: z.record(z.string(), z.number().nonnegative()),
  /** Left out for the first turn of a process. */
  before: REPORTED_COSTS.optional(),
});

/** The costs that are known before a turn starts. */
export type CostBaseline = z.infer<typeof COST_BASELINE_SCHEMA>;

/**
 * From this version on, `total_cost_usd` includes the total saved in the conversation; before, it is that of the call.
 */
const CONTINUES_TOTAL_SINCE: ClaudeVersion = [2, 1, 276];

/**
 * Computes what a turn has cost from the best that is known: the costs since the last result, if its results name them;
 * else what its process reports more than before it; else its total, less the total that the conversation had saved before;
 * else, also if no turn can cost as much, an estimate from the tokens.
 *
 * Claude Code continues from the total it has saved, not from the one it has reported last: a process that is killed,
 * even after its result, saves nothing.
 */
export function computeTurnCost(transcript: Transcript, baseline: CostBaseline): CostReport {
  const estimates = estimateCosts(totalUsage(transcript), baseline.prices);
  const { usd, models } = findReportedCost(transcript, baseline);
  if (usd !== null && isPlausibleCost(usdToMicros(usd)))
    return { kind: 'reported', micros: usdToMicros(usd), models: (models ?? estimates).map(toModelUse) };
  const micros = usdToMicros(sumUsd(estimates));
  return { kind: 'estimated', micros, models: estimates.map(toModelUse), ...(usd !== null && { refusedUsd: usd }) };
}

/** The reported costs; `models` is null if the figures per model include earlier turns. */
function findReportedCost(
  { spent, lastResult, version }: Transcript,
  { savedUsd, before }: CostBaseline,
): { readonly usd: number | null; readonly models: readonly ModelCost[] | null } {
  if (lastResult !== null && spent !== null) return { usd: sumUsd(spent), models: spent };
  const total = lastResult?.totalCostUsd ?? null;
  if (total === null || lastResult === null) return { usd: null, models: null };
  if (before !== undefined)
    return { usd: Math.max(0, total - before.totalUsd), models: subtractCosts(lastResult.models, before.models) };
  if (continuesSavedTotal(version, total, savedUsd)) return { usd: total - (savedUsd ?? 0), models: null };
  return { usd: total, models: lastResult.models.length === 0 ? null : lastResult.models };
}

/** The increase in cost of each model; unchanged models are left out. */
const subtractCosts = (models: readonly ModelCost[], before: readonly ModelCost[]): readonly ModelCost[] =>
  models.flatMap(({ model, usage, costUsd }) => {
    const known = before.find((each) => each.model === model) ?? { usage: NO_USAGE, costUsd: 0 };
    const more = { model, usage: subtractUsage(usage, known.usage), costUsd: Math.max(0, costUsd - known.costUsd) };
    return more.costUsd > 0 || weighTokens(more.usage) > 0 ? [more] : [];
  });

const sumUsd = (models: readonly ModelCost[]): number => models.reduce((sum, { costUsd }) => sum + costUsd, 0);

const toModelUse = ({ model, usage, costUsd }: ModelCost): ModelUse => ({
  model: baseModelName(model),
  weight: costUsd,
  tokens: {
    input: usage.input,
    output: usage.output,
    cacheRead: usage.cacheRead,
    cacheWrite: usage.cacheWrite + usage.cacheWriteLong,
  },
});

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
  saveCostBaseline(dir, { savedUsd: file === null ? null : await readSavedTotalUsd(file), prices });
}

/** Writes the costs down that are known before a turn starts. */
export function saveCostBaseline(dir: string, baseline: CostBaseline): void {
  writeFileSync(join(dir, COST_BASELINE_FILE), JSON.stringify(baseline), { mode: 0o600 });
}

/** The total that a process reported up to the end of a turn; null if unknown. */
export function reportedCosts({ lastResult }: Transcript): ReportedCosts | null {
  if (lastResult === null || lastResult.totalCostUsd === null) return null;
  return { totalUsd: lastResult.totalCostUsd, models: [...lastResult.models] };
}

/** Estimates what a turn has cost up to now, in micro-dollars. */
export const estimateMicros = (transcript: Transcript, prices: Prices): number =>
  usdToMicros(sumUsd(estimateCosts(totalUsage(transcript), prices)));

/**
 * Reads the costs that were known before a turn started. If the file is damaged or gone, the turn is charged with all
 * that it reports, which may be too much but never lets a run exceed its budget; of a damaged one the author is warned.
 */
export function readCostBaseline(
  context: Pick<TurnContext, 'warn' | 'folderOf'>,
  turn: TurnRef,
  folder = context.folderOf(turn),
): CostBaseline {
  const found = readJsonFile(join(folder, COST_BASELINE_FILE), COST_BASELINE_SCHEMA);
  if (found.kind === 'data') return found.data;
  if (found.kind === 'damaged') {
    context.warn(turn, `${found.message}. The turn is charged with the total of its conversation.`);
  }
  return UNKNOWN_COSTS;
}

/** The baseline of a turn of which nothing is known. */
export const UNKNOWN_COSTS: CostBaseline = { savedUsd: null, prices: {} };

/** Dollars per weighted token, by model, as learned from the reports of Claude Code. */
export type Prices = Readonly<Record<string, number>>;

/** Dollars per million input tokens of models without a report yet; unknown models have the highest price. */
const FAMILY_PRICES: readonly (readonly [RegExp, number])[] = [
  [/haiku/i, 1],
  [/sonnet/i, 3],
];
const HIGHEST_PRICE = 5;

/** Adds the prices of models that can be computed from a report. */
export function learnPrices(prices: Prices, models: readonly ModelCost[]): Prices {
  const learned = models
    .filter(({ usage, costUsd }) => costUsd > 0 && isPlausibleCost(usdToMicros(costUsd)) && weighTokens(usage) > 0)
    .map(({ model, usage, costUsd }) => [baseModelName(model), costUsd / weighTokens(usage)] as const);
  return learned.length === 0 ? prices : { ...prices, ...Object.fromEntries(learned) };
}

/** Estimates the cost of tokens by model. */
export const estimateCosts = (tokens: Readonly<Record<string, Usage>>, prices: Prices): readonly ModelCost[] =>
  Object.entries(tokens).map(([model, usage]) => {
    return { model, usage, costUsd: weighTokens(usage) * priceOf(model, prices) };
  });

function priceOf(model: string, prices: Prices): number {
  const name = baseModelName(model);
  const learned = Object.hasOwn(prices, name) ? prices[name] : undefined;
  if (learned !== undefined) return learned;
  const family = FAMILY_PRICES.find(([pattern]) => pattern.test(name));
  return (family?.[1] ?? HIGHEST_PRICE) / 1_000_000;
}

/** A model's name without its context window: `claude-opus-4-8[1m]`. */
const baseModelName = (model: string): string => model.replace(/\[.*\]$/, '');
