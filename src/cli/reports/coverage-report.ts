import { relative } from 'node:path';
import { sanitizeLine } from '../../render/sanitize.ts';
import type { RenderContext } from '../../render/terminal/render-context.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import { padToWidth, widthOf } from '../../render/text-width.ts';
import {
  allCoverageItems,
  COVERAGE_KINDS,
  type Coverage,
  type CoverageItem,
  coveredPercent,
} from '../../testing/coverage.ts';

type CoverageRow = Pick<Coverage, (typeof COVERAGE_KINDS)[number]> & { readonly name: string };

const COLUMNS: readonly Column<CoverageRow>[] = [
  { title: 'workflow', cell: ({ name }) => name },
  { title: 'states', align: 'right', cell: ({ states }) => formatShare(states) },
  { title: 'transitions', align: 'right', cell: ({ transitions }) => formatShare(transitions) },
  { title: 'policy entries', align: 'right', cell: ({ entries }) => formatShare(entries) },
  { title: 'covered', align: 'right', cell: (row) => formatPercent(COVERAGE_KINDS.flatMap((kind) => row[kind])) },
];

/** Renders how much of each workflow the scenarios covered, and below it everything that they never took. */
export function renderCoverage(coverages: readonly Coverage[], cwd: string, context: RenderContext): readonly string[] {
  const rows = coverages.map((coverage) => ({ ...coverage, name: relative(cwd, coverage.workflow.path) || '.' }));
  const all = {
    name: 'all',
    ...Object.fromEntries(COVERAGE_KINDS.map((kind) => [kind, rows.flatMap((row) => row[kind])])),
  } as CoverageRow;
  const untaken = coverages.flatMap((coverage) => listUntaken(coverage, cwd));
  return [
    ...renderCoverageTable(rows.length === 1 ? rows : [...rows, all], context),
    ...(untaken.length === 0 ? [] : ['Never taken:', ...untaken.map((line) => `  ${line}`)]),
  ];
}

/** Renders a table, or a block for each workflow if the table is too wide. */
function renderCoverageTable(rows: readonly CoverageRow[], context: RenderContext): readonly string[] {
  const table = renderTable(rows, COLUMNS, { ...context, columns: Number.POSITIVE_INFINITY });
  if (table.every((line) => widthOf(line) <= context.columns)) return table;
  const [name, ...numbers] = COLUMNS;
  const width = Math.max(...numbers.map(({ title }) => widthOf(title)));
  return rows.flatMap((row) => [
    name?.cell(row) ?? '',
    ...numbers.map(({ title, cell }) => `  ${context.colorize('dim', padToWidth(title, width))}  ${cell(row)}`),
  ]);
}

/** The share of everything that was covered, such as `87%`. */
export const formatTotalCoverage = (coverages: readonly Coverage[]): string =>
  formatPercent(allCoverageItems(coverages));

/** Rounded down, so that only full coverage is 100%. */
const formatPercent = (items: readonly CoverageItem[]): string => `${Math.floor(coveredPercent(items))}%`;

const formatShare = (items: readonly CoverageItem[]): string =>
  `${items.filter(({ times }) => times > 0).length}/${items.length}`;

/** Lists everything that was never taken, once each: a policy entry may also be a transition. */
function listUntaken(coverage: Coverage, cwd: string): readonly string[] {
  const { workflow } = coverage;
  const [states, transitions, entries] = COVERAGE_KINDS.map((kind) =>
    coverage[kind].filter(({ times }) => times === 0),
  );
  const transitionKeys = new Set(transitions?.map(formatLocationKey));
  const missing = [
    ...(states ?? []),
    ...(transitions ?? []),
    ...(entries ?? []).filter((entry) => !transitionKeys.has(formatLocationKey(entry))),
  ];
  const inOrder = missing.toSorted((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  const lines = inOrder.map(({ file, line, label }) => {
    const path = sanitizeLine(relative(cwd, workflow.locate(file)));
    return line === 0 ? path : `${path}:${line}: ${sanitizeLine(label)}`;
  });
  return [...new Set(lines)];
}

const formatLocationKey = ({ file, line, label }: CoverageItem): string => `${file}:${line} ${label.split(' ')[0]}`;
