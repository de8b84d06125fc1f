import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Column, renderTable } from '../../../src/render/terminal/table.ts';
import { createColorizer } from '../../../src/render/text-style.ts';
import { widthOf } from '../../../src/render/text-width.ts';

const page = (columns: number, color = false) => ({ columns, colorize: createColorizer(color), now: 0 });

const column = (at: number, more: Partial<Column<readonly string[]>> = {}): Column<readonly string[]> => ({
  title: `T${at}`,
  cell: (row) => row[at] ?? '',
  ...more,
});

const cell = fc.stringMatching(/^[a-z0-9漢é]{0,9}$/);
const rows = fc.array(fc.array(cell, { minLength: 4, maxLength: 4 }), { minLength: 1, maxLength: 6 });
const COLUMNS = [column(0), column(1, { spare: true }), column(2, { align: 'right', style: () => 'red' }), column(3)];

test('no line is wider than the page, unless a single cell is, and only spare cells are omitted', () => {
  fc.assert(
    fc.property(rows, fc.integer({ min: 1, max: 60 }), fc.boolean(), (table, columns, color) => {
      const lines = renderTable(table, COLUMNS, page(columns, color));
      const widest = Math.max(...table.flat().map(widthOf), 2);
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(Math.max(columns, widest + 2));
      const text = lines.join(' ');
      for (const row of table) for (const at of [0, 2, 3]) expect(text).toContain(row[at]);
    }),
  );
});

test('cells of a column are aligned', () => {
  const lines = renderTable(
    [
      ['漢字', 'x', '1', ''],
      ['abcdef', 'yy', '100', 'z'],
    ],
    COLUMNS,
    page(80),
  );
  expect(lines).toStrictEqual(['T0      T1   T2  T3', '漢字    x     1', 'abcdef  yy  100  z']);
});

test('a table without titles has no header, and notes follow their row', () => {
  const untitled = [column(0, { title: '' }), column(1, { title: '' })];
  const below = ([first]: readonly string[]): readonly string[] => [`  more of ${first}`];
  expect(renderTable([['a', 'b'], ['c']], untitled, page(80), below)).toStrictEqual([
    'a  b',
    '  more of a',
    'c',
    '  more of c',
  ]);
});
