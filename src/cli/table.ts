import { padded, widthOf } from '../observers/fit.ts';
import type { Ink } from '../observers/ink.ts';
import type { Page } from './page.ts';

/** One column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly align?: 'right';
  readonly ink?: (row: Row) => Ink | null;
  /** Left out where there is no room for all columns. */
  readonly spare?: boolean;
}

/** A column with all its cells, each as wide as the widest. */
interface Drawn<Row> extends Column<Row> {
  readonly width: number;
}

const GAP = '  ';

/**
 * Rows in columns. Where they do not fit, those that are spare are left out; if that is not enough, each row takes several
 * lines. No cell is ever cut off: ids are there to be copied. `below` gives the lines that follow a row.
 */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  page: Page,
  below: (row: Row) => readonly string[] = () => [],
): readonly string[] {
  const all = columns.map((column) => draw(rows, column));
  let drawn = all;
  for (const each of all) {
    if (each.spare && widthOfAll(drawn) > page.columns) drawn = drawn.filter((one) => one !== each);
  }
  if (widthOfAll(drawn) > page.columns) return rows.flatMap((row) => [...inLines(row, all, page), ...below(row)]);
  const heads = inLine(drawn.map(({ title, align, width }) => padded(title, width, side(align))));
  const body = rows.flatMap((row) => [inLine(drawn.map((column) => cellOf(column, row, page))), ...below(row)]);
  return heads === '' ? body : [page.dye('dim', heads), ...body];
}

const draw = <Row>(rows: readonly Row[], column: Column<Row>): Drawn<Row> => ({
  ...column,
  width: rows.reduce((most, row) => Math.max(most, widthOf(column.cell(row))), widthOf(column.title)),
});

const widthOfAll = <Row>(columns: readonly Drawn<Row>[]): number =>
  columns.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length);

/** As many columns as there is room for in the first line, at least one, and the rest below it. */
function inLines<Row>(row: Row, columns: readonly Drawn<Row>[], page: Page): readonly string[] {
  const fitting = columns.findLastIndex((_, at) => widthOfAll(columns.slice(0, at + 1)) <= page.columns);
  const first = columns.slice(0, Math.max(1, fitting + 1)).map((column) => cellOf(column, row, page));
  const rest = columns.slice(first.length).map((column) => cellOf({ ...column, width: 0 }, row, page));
  const lines = [inLine(first)];
  let room = 0;
  for (const cell of rest.filter((each) => each !== '')) {
    const needed = GAP.length + widthOf(cell);
    if (needed > room) {
      lines.push('');
      room = page.columns;
    }
    lines.push(`${lines.pop()}${GAP}${cell}`);
    room -= needed;
  }
  return lines;
}

function cellOf<Row>({ cell, width, align, ink }: Drawn<Row>, row: Row, { dye }: Page): string {
  const text = cell(row);
  const kind = ink?.(row) ?? null;
  return padded(kind === null || text === '' ? text : dye(kind, text), width, side(align));
}

const inLine = (cells: readonly string[]): string => cells.join(GAP).trimEnd();

const side = (align: 'right' | undefined): 'left' | 'right' => (align === 'right' ? 'left' : 'right');
