import { type CostSummary, collectCosts, createCostDocument, type IncompleteRun } from '../../app/costs.ts';
import { countTokens } from '../../core/run/tokens.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { COST_GROUPS, type CostGroup, type CostRow } from '../../render/cost-tally.ts';
import {
  formatCount,
  formatDollars,
  formatShortCount,
  formatSpending,
  formatTokenKinds,
  formatTokens,
} from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import { createRenderContext, type RenderContext } from '../../render/terminal/terminal.ts';
import { wrapText } from '../../render/text-width.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { getChoiceOption, getTextOption, parseAgeMs } from '../parsed-options.ts';

/** `raymond costs`: adds up what the runs here have cost. */
export const handleCosts: CommandHandler = async (_, options, terminal) => {
  const by = getChoiceOption(options, 'by', COST_GROUPS) ?? 'run';
  const context = createRenderContext(terminal);
  const sinceMs = parseSince(getTextOption(options, 'since'), context.now);
  const costs = await withStorage(findDatabaseAddress(options, terminal), terminal, ({ storage }) =>
    collectCosts({ storages: [storage], by, sinceMs }),
  );
  if (options.json) terminal.out(`${formatJson(createCostDocument(costs, by, sinceMs))}\n`);
  else terminal.out(`${renderCostReport(costs, by, context).join('\n')}\n`);
  if (!options.json) for (const run of costs.incomplete) terminal.err(`${describeIncompleteRun(run)}\n`);
  return EXIT.completed;
};

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;

/** Reads `--since`: a day, which begins at midnight here, a time, or how long ago. */
function parseSince(written: string | undefined, now: number): number | null {
  if (written === undefined) return null;
  const ageMs = parseAgeMs(written);
  if (ageMs !== undefined) return Math.max(0, now - ageMs);
  const [isDay, year, month, day] = DATE.exec(written) ?? [];
  const isTime = /^\d{4}-\d\d-\d\dT/.test(written);
  const date =
    isDay === undefined
      ? new Date(isTime ? written : Number.NaN)
      : new Date(Number(year), Number(month) - 1, Number(day));
  const isReal = isDay === undefined || (date.getMonth() === Number(month) - 1 && date.getDate() === Number(day));
  if (!Number.isNaN(date.getTime()) && isReal) return date.getTime();
  throw usageError(`--since must be a day such as 2026-01-31, a time, or an age such as 7d or 12h, not \`${written}\``);
}

/** Renders costs as a table with a row for each group, and their sum. */
function renderCostReport({ rows, total }: CostSummary, by: CostGroup, context: RenderContext): readonly string[] {
  const table = rows.length === 0 ? [] : renderTable(rows, createCostColumns(rows, by), context);
  return [...table, ...(table.length === 0 ? [] : ['']), ...wrapText(formatTotal(total), context.columns)];
}

function createCostColumns(rows: readonly CostRow[], by: CostGroup): readonly Column<CostRow>[] {
  const money = (title: string, amount: (row: CostRow) => number, spare: boolean): readonly Column<CostRow>[] => {
    const cell = (row: CostRow): string => (amount(row) === 0 ? '' : formatDollars(amount(row)));
    return rows.some((row) => amount(row) > 0) ? [{ title, cell, align: 'right', spare }] : [];
  };
  const tokens = (row: CostRow): string => formatShortCount(countTokens(row.tokens));
  return [
    { title: by.toUpperCase(), cell: ({ key }) => sanitizeLine(key) },
    ...(by === 'run' ? [] : [{ title: 'RUNS', cell: countCell('runs'), align: 'right', spare: true } as const]),
    { title: 'TURNS', cell: countCell('turns'), align: 'right', spare: true },
    { title: 'COST', cell: ({ paidMicros }) => formatDollars(paidMicros), align: 'right' },
    ...money('ESTIMATED', ({ estimatedMicros }) => estimatedMicros, true),
    ...money('CANNED', ({ cannedMicros }) => cannedMicros, false),
    ...(rows.some((row) => countTokens(row.tokens) > 0)
      ? [{ title: 'TOKENS', cell: tokens, align: 'right' } as const]
      : []),
  ];
}

const countCell =
  (name: 'runs' | 'turns') =>
  (row: CostRow): string =>
    String(row[name]);

function formatTotal({ runs, turns, paidMicros, estimatedMicros, cannedMicros, tokens }: CostSummary['total']): string {
  const spending = formatSpending({ spentMicros: paidMicros, estimatedMicros });
  const used = countTokens(tokens) === 0 ? '' : `, ${formatTokens(tokens)}: ${formatTokenKinds(tokens)}`;
  const canned =
    cannedMicros === 0 ? '' : ` Canned answers stand for another ${formatDollars(cannedMicros)}, which nobody paid.`;
  return `Total: ${spending} for ${formatCount(turns, 'Claude turn')} of ${formatCount(runs, 'run')}${used}.${canned}`;
}

/** Says what is not known about the costs of a run. */
function describeIncompleteRun({ id, message, missingMicros }: IncompleteRun): string {
  const counted =
    missingMicros === null
      ? 'Its costs are not counted.'
      : `${formatDollars(missingMicros)} of its costs have no details: they are counted at its start.`;
  return `${id}: ${message} ${counted}`;
}
