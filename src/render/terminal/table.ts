import type { TextStyle } from '../text-style.ts';
import { padToWidth, widthOf } from '../text-width.ts';
import type { RenderContext } from './terminal.ts';

/** One column of a table. */
export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => string;
  readonly align?: 'right';
  readonly style?: (row: Row) => TextStyle | null;
  /** True if it is left out where there is no room for all columns. */
  readonly spare?: boolean;
}

/** A column with the width of its widest cell. */
interface MeasuredColumn<Row> extends Column<Row> {
  readonly width: number;
}

const GAP = '  ';

/**
 * Renders rows in columns. If they do not fit, spare columns are left out; if that is not enough, each row takes several
 * lines. Cells are never shortened: ids are there to be copied. `renderBelow` gives the lines that follow a row.
 */
export function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  context: RenderContext,
  renderBelow: (row: Row) => readonly string[] = () => [],
): readonly string[] {
  const measured = columns.map((column) => measureColumn(rows, column));
  let shown = measured;
  for (const each of measured) {
    if (each.spare && sumWidths(shown) > context.columns) shown = shown.filter((one) => one !== each);
  }
  if (sumWidths(shown) > context.columns)
    return rows.flatMap((row) => [...renderRowInLines(row, measured, context), ...renderBelow(row)]);
  const header = joinCells(shown.map(({ title, align, width }) => padToWidth(title, width, getPaddingSide(align))));
  const body = rows.flatMap((row) => [
    joinCells(shown.map((column) => renderCell(column, row, context))),
    ...renderBelow(row),
  ]);
  return header === '' ? body : [context.colorize('dim', header), ...body];
}

const measureColumn = <Row>(rows: readonly Row[], column: Column<Row>): MeasuredColumn<Row> => ({
  ...column,
  width: rows.reduce((widest, row) => Math.max(widest, widthOf(column.cell(row))), widthOf(column.title)),
});

const sumWidths = <Row>(columns: readonly MeasuredColumn<Row>[]): number =>
  columns.reduce((sum, { width }) => sum + width + GAP.length, -GAP.length);

/** A row with as many columns as fit in the first line, at least one, and the rest below it. */
function renderRowInLines<Row>(
  row: Row,
  columns: readonly MeasuredColumn<Row>[],
  context: RenderContext,
): readonly string[] {
  const fitting = columns.findLastIndex((_, at) => sumWidths(columns.slice(0, at + 1)) <= context.columns);
  const first = columns.slice(0, Math.max(1, fitting + 1)).map((column) => renderCell(column, row, context));
  const rest = columns.slice(first.length).map((column) => renderCell({ ...column, width: 0 }, row, context));
  const lines = [joinCells(first)];
  let room = 0;
  for (const cell of rest.filter((each) => each !== '')) {
    const needed = GAP.length + widthOf(cell);
    if (needed > room) {
      lines.push('');
      room = context.columns;
    }
    lines.push(`${lines.pop()}${GAP}${cell}`);
    room -= needed;
  }
  return lines;
}

function renderCell<Row>(
  { cell, width, align, style }: MeasuredColumn<Row>,
  row: Row,
  { colorize }: RenderContext,
): string {
  const text = cell(row);
  const cellStyle = style?.(row) ?? null;
  return padToWidth(cellStyle === null || text === '' ? text : colorize(cellStyle, text), width, getPaddingSide(align));
}

const joinCells = (cells: readonly string[]): string => cells.join(GAP).trimEnd();

const getPaddingSide = (align: 'right' | undefined): 'left' | 'right' => (align === 'right' ? 'left' : 'right');
