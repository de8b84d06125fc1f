import type { CostSummary, IncompleteRun } from '../../app/costs.ts';
import { countTokens } from '../../core/run/tokens.ts';
import type { CostGroup, CostRow } from '../../render/cost-tally.ts';
import {
  formatCount,
  formatDollars,
  formatShortCount,
  formatSpending,
  formatTokenKinds,
  formatTokens,
} from '../../render/format.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import type { RenderContext } from '../../render/terminal/render-context.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import { wrapText } from '../../render/text-width.ts';

/** Renders costs as a table with a row for each group, and their sum. */
export function renderCostReport(
  { rows, total }: CostSummary,
  by: CostGroup,
  context: RenderContext,
): readonly string[] {
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
export function describeIncompleteRun({ id, message, missingMicros }: IncompleteRun): string {
  const counted =
    missingMicros === null
      ? 'Its costs are not counted.'
      : `${formatDollars(missingMicros)} of its costs have no details: they are counted at its start.`;
  return `${id}: ${message} ${counted}`;
}
