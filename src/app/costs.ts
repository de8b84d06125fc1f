import { isReplay } from '../core/options/option-types.ts';
import type { TurnEnded } from '../core/run/event.ts';
import { type Ledger, microsToUsd } from '../core/run/ledger.ts';
import { sumTokens, type Tokens } from '../core/run/tokens.ts';
import { correctTurn } from '../core/run/worker-event.ts';
import { createTokensDocument } from '../documents/event-document.ts';
import type { CostRowDocument, CostsDocument } from '../documents/types.ts';
import { RaymondError } from '../errors.ts';
import {
  addCosts,
  type CostAmount,
  type CostEntry,
  type CostGroup,
  type CostRow,
  CostTally,
  NO_COSTS,
} from '../render/cost-tally.ts';
import { formatIso } from '../render/format.ts';
import type { RunSummary, UnreadableRun } from '../storage/run-summary.ts';
import type { RunStorage } from '../storage/storage.ts';
import { streamRunEvents } from './run-files.ts';

/** Which costs to add up, and how. */
export interface CostRequest {
  readonly storages: readonly RunStorage[];
  readonly by: CostGroup;
  /** Only turns that ended then or later; null for all. */
  readonly sinceMs: number | null;
}

/** A run whose costs are not all known: `missingMicros` are counted without details, or null if none can be read. */
export interface IncompleteRun {
  readonly id: string;
  readonly message: string;
  readonly missingMicros: number | null;
}

/** The costs of all runs here. */
export interface CostSummary {
  readonly rows: readonly CostRow[];
  readonly total: Omit<CostRow, 'key'>;
  readonly incomplete: readonly IncompleteRun[];
}

/** Adds up what the turns of all runs here have cost. Runs that are damaged are named; the others still count. */
export async function collectCosts({ storages, by, sinceMs }: CostRequest): Promise<CostSummary> {
  const tally = new CostTally(by);
  const incomplete: IncompleteRun[] = [];
  for (const { storage, run } of await listRunsOf(storages)) {
    if (run.kind === 'unreadable') {
      incomplete.push({ id: run.id, message: run.error.message, missingMicros: null });
      continue;
    }
    const { entries, problem } = await readRunCosts(storage, run);
    const rest = remainderOf(run, entries);
    for (const entry of rest === null ? entries : [...entries, rest]) {
      if (sinceMs === null || entry.at >= sinceMs) tally.add(entry);
    }
    if (rest !== null || problem !== null) {
      const missingMicros = rest === null ? 0 : rest.paidMicros + rest.cannedMicros;
      incomplete.push({ id: run.id, message: problem ?? 'Its journal is incomplete.', missingMicros });
    }
  }
  return { rows: sortRows(tally.rows, by), total: tally.total, incomplete };
}

async function listRunsOf(
  storages: readonly RunStorage[],
): Promise<readonly { readonly storage: RunStorage; readonly run: RunSummary | UnreadableRun }[]> {
  const listed = await Promise.all(
    storages.map(async (storage) => (await storage.runs.list('summaries')).map((run) => ({ storage, run }))),
  );
  return listed.flat();
}

/** Reads the Claude turns of a run from its journal, up to where that is damaged. */
async function readRunCosts(
  storage: RunStorage,
  run: RunSummary,
): Promise<{ readonly entries: readonly CostEntry[]; readonly problem: string | null }> {
  const entries: CostEntry[] = [];
  /** The turns whose cost is an estimate, with the place of their entries. */
  const estimates = new Map<string, { readonly place: number; readonly ended: TurnEnded }>();
  let isCanned = false;
  try {
    for await (const event of streamRunEvents(run.id, storage)) {
      if (event.kind === 'run_started' || event.kind === 'run_resumed') isCanned = isReplay(event.options);
      if (event.kind === 'turn_ended' && event.session !== null) {
        if (event.estimated) estimates.set(`${event.agent}/${event.turn}`, { place: entries.length, ended: event });
        entries.push(toEntry(run, event, isCanned));
      }
      const estimate = event.kind === 'cost_corrected' ? estimates.get(`${event.agent}/${event.turn}`) : undefined;
      if (event.kind === 'cost_corrected' && estimate !== undefined)
        entries[estimate.place] = toEntry(run, correctTurn(estimate.ended, event), isCanned);
    }
    return { entries, problem: null };
  } catch (error) {
    if (error instanceof RaymondError) return { entries, problem: error.message };
    throw error;
  }
}

/** `isReplay` tells of the journals of older versions, which do not say it of each turn. */
function toEntry({ id, workflow }: RunSummary, event: TurnEnded, isReplaying: boolean): CostEntry {
  const { at, state, costMicros, estimated, models } = event;
  const isCanned = event.canned || (isReplaying && models.length === 0);
  return {
    run: id,
    workflow: workflow.name,
    state,
    at,
    models,
    turns: 1,
    paidMicros: isCanned ? 0 : costMicros,
    estimatedMicros: estimated && !isCanned ? costMicros : 0,
    cannedMicros: isCanned ? costMicros : 0,
    tokens: sumTokens(models),
  };
}

/** The costs that the run file has and the journal lacks, dated at the start of the run; null for none. */
function remainderOf({ id, workflow, startedAt, ledger }: RunSummary, entries: readonly CostEntry[]): CostEntry | null {
  const known = entries.reduce<CostAmount>(addCosts, NO_COSTS);
  const missing = missingCosts(ledger, known);
  if (missing.paidMicros + missing.cannedMicros === 0) return null;
  return { ...missing, run: id, workflow: workflow.name, state: null, at: startedAt, models: [] };
}

function missingCosts(ledger: Ledger, known: CostAmount): CostAmount {
  const rest = (all: number, part: number): number => Math.max(0, all - part);
  const restOf = (name: keyof Tokens): number => rest(ledger.tokens[name], known.tokens[name]);
  return {
    turns: rest(ledger.turns, known.turns),
    paidMicros: rest(ledger.spentMicros - ledger.cannedMicros, known.paidMicros),
    estimatedMicros: rest(ledger.estimatedMicros, known.estimatedMicros),
    cannedMicros: rest(ledger.cannedMicros, known.cannedMicros),
    tokens: {
      input: restOf('input'),
      output: restOf('output'),
      cacheRead: restOf('cacheRead'),
      cacheWrite: restOf('cacheWrite'),
    },
  };
}

/** Runs are in the order of `raymond list`, days in their own; of the others, what costs most comes first. */
function sortRows(rows: readonly CostRow[], by: CostGroup): readonly CostRow[] {
  if (by === 'run') return rows;
  if (by === 'day') return rows.toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return rows.toSorted((a, b) => b.paidMicros - a.paidMicros || b.cannedMicros - a.cannedMicros);
}

/** Creates the JSON document of costs. */
export const createCostDocument = (
  { rows, total, incomplete }: CostSummary,
  by: CostGroup,
  sinceMs: number | null,
): CostsDocument => ({
  by,
  since: sinceMs === null ? null : formatIso(sinceMs),
  total: { runs: total.runs, ...createAmountFields(total) },
  rows: rows.map((row) => ({ key: row.key, runs: row.runs, ...createAmountFields(row) })),
  incomplete: incomplete.map(({ id, message, missingMicros }) => ({
    run_id: id,
    error: message,
    missing_usd: missingMicros === null ? null : microsToUsd(missingMicros),
  })),
});

const createAmountFields = (amount: CostAmount): Omit<CostRowDocument, 'key' | 'runs'> => ({
  turns: amount.turns,
  paid_usd: microsToUsd(amount.paidMicros),
  estimated_usd: microsToUsd(amount.estimatedMicros),
  canned_usd: microsToUsd(amount.cannedMicros),
  tokens: createTokensDocument(amount.tokens),
});
