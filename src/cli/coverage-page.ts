import { relative } from 'node:path';
import { padded, widthOf } from '../observers/fit.ts';
import { oneLine } from '../observers/harmless.ts';
import { type Coverage, everything, type Item, KINDS, percentOf } from '../rehearsal/coverage.ts';
import type { Page } from './page.ts';
import { type Column, tableOf } from './table.ts';

type Row = Pick<Coverage, (typeof KINDS)[number]> & { readonly name: string };

const COLUMNS: readonly Column<Row>[] = [
  { title: 'workflow', cell: ({ name }) => name },
  { title: 'states', align: 'right', cell: ({ states }) => share(states) },
  { title: 'transitions', align: 'right', cell: ({ transitions }) => share(transitions) },
  { title: 'policy entries', align: 'right', cell: ({ entries }) => share(entries) },
  { title: 'covered', align: 'right', cell: (row) => percent(KINDS.flatMap((kind) => row[kind])) },
];

/** What the scenarios took of each workflow, and below it everything that they never took. */
export function coverageLines(coverages: readonly Coverage[], cwd: string, page: Page): readonly string[] {
  const rows = coverages.map((coverage) => ({ ...coverage, name: relative(cwd, coverage.workflow.path) || '.' }));
  const all = {
    name: 'all',
    ...Object.fromEntries(KINDS.map((kind) => [kind, rows.flatMap((row) => row[kind])])),
  } as Row;
  const never = coverages.flatMap((coverage) => neverTaken(coverage, cwd));
  return [
    ...numberLines(rows.length === 1 ? rows : [...rows, all], page),
    ...(never.length === 0 ? [] : ['Never taken:', ...never.map((line) => `  ${line}`)]),
  ];
}

/** A table, or where that is too wide a block for each workflow: a number without its title says nothing. */
function numberLines(rows: readonly Row[], page: Page): readonly string[] {
  const table = tableOf(rows, COLUMNS, { ...page, columns: Number.POSITIVE_INFINITY });
  if (table.every((line) => widthOf(line) <= page.columns)) return table;
  const [name, ...numbers] = COLUMNS;
  const width = Math.max(...numbers.map(({ title }) => widthOf(title)));
  return rows.flatMap((row) => [
    name?.cell(row) ?? '',
    ...numbers.map(({ title, cell }) => `  ${page.dye('dim', padded(title, width))}  ${cell(row)}`),
  ]);
}

/** How much of everything was taken, in words. */
export const percentTaken = (coverages: readonly Coverage[]): string => percent(everything(coverages));

/** Rounded down: 100% is all of it. */
const percent = (items: readonly Item[]): string => `${Math.floor(percentOf(items))}%`;

const share = (items: readonly Item[]): string => `${items.filter(({ times }) => times > 0).length}/${items.length}`;

/** Each thing once: an entry of a policy is a transition, too. */
function neverTaken(coverage: Coverage, cwd: string): readonly string[] {
  const { workflow } = coverage;
  const [states, transitions, entries] = KINDS.map((kind) => coverage[kind].filter(({ times }) => times === 0));
  const named = new Set(transitions?.map(placeAndTag));
  const missing = [
    ...(states ?? []),
    ...(transitions ?? []),
    ...(entries ?? []).filter((entry) => !named.has(placeAndTag(entry))),
  ];
  const inOrder = missing.toSorted((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1));
  const lines = inOrder.map(({ file, line, label }) => {
    const path = oneLine(relative(cwd, workflow.pathOf(file) ?? `${workflow.path}/${file}`));
    return line === 0 ? path : `${path}:${line}: ${oneLine(label)}`;
  });
  return [...new Set(lines)];
}

const placeAndTag = ({ file, line, label }: Item): string => `${file}:${line} ${label.split(' ')[0]}`;
