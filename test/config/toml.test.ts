import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { locateConfigKeys } from '../../src/config/toml.ts';

/** The line of each key in a text whose values are the lines they stand on. */
function statedLines(table: unknown, way: readonly string[] = []): [readonly string[], number][] {
  return Object.entries(table as object).flatMap(([key, value]): [readonly string[], number][] => {
    const path = [...way, key];
    if (typeof value === 'object') return statedLines(value, path);
    return [[path, Number(String(value).trim().split(/\s/)[0])]];
  });
}

describe('the line of a key', () => {
  test.each([
    ['plain keys', 'a = 1\nb = 2\n'],
    ['keys that begin alike', '[raymond]\nretries_x = 2\nretries = 3\n'],
    ['the same key in several tables', '[vars]\nbudget = 2\n[raymond]\nbudget = 4\n[raymond.sub]\nbudget = 6\n'],
    ['quoted keys', '"a b" = 1\n\'c.d\' = 2\n"e\\"f" = 3\n'],
    ['dotted keys', 'raymond.budget = 1\nraymond . "budget.x" = 2\nvars.budget = 3\n'],
    ['an inline table', '\nraymond = { budget = 2, retries = 2, sub = { budget = 2 } }\n'],
    [
      'an inline table of several lines',
      'raymond = { # one\n  budget = 2,\n\n  sub = { a = 4,\n    b = 5 },\n  retries = 6\n}\n',
    ],
    ['keys below a long text', 'text = """1\nbudget = 9\n[raymond]\n"""\nbudget = 5\n'],
    ['keys below a long literal', "text = '''1 '\nbudget = 9'''\nbudget = 3\n"],
    ['a key that is also said in a comment', '# budget = 9\n[raymond] # [vars]\n# budget = 9\nbudget = 4 # budget\n'],
    ['a key that is also said in a text', 'text = "1 budget = 3"\nbudget = 2\n'],
    ['lines that end as on Windows', '[raymond]\r\nbudget = 2\r\n\r\n[vars]\r\na = "5"\r\n'],
    ['a byte order mark', '\uFEFF[raymond]\nbudget = 2\n'],
    ['no newline at the end', '[raymond]\n\nbudget = 3'],
    ['names that objects have anyway', '__proto__ = 1\nconstructor = 2\n[toString]\nvalueOf = 4\n'],
  ])('is found among %s', (_, text) => {
    const lineOf = locateConfigKeys(text);
    const stated = statedLines(parse(text));
    expect(stated.length).toBeGreaterThan(0);
    expect(stated.map(([path]) => [path, lineOf(...path)])).toStrictEqual(stated);
  });

  test('is that of its header for a table, and of its first line for a list', () => {
    const lineOf = locateConfigKeys(
      '[raymond]\nlist = [\n  1, # one\n  { a = 2 },\n]\nafter = 6\n\n[[vars]]\na = 1\n[[vars]]\na = 2\n',
    );
    expect([lineOf('raymond'), lineOf('raymond', 'list'), lineOf('raymond', 'after'), lineOf('vars')]).toStrictEqual([
      1, 2, 6, 8,
    ]);
  });

  test('is right in any file that is made of such parts', () => {
    const name = fc.constantFrom('budget', 'budget_x', '"budget x"', 'retries', "'[vars]'");
    const value = fc.constantFrom(
      '1',
      '"budget = 1"',
      '"""\nbudget = 1\n[raymond]\n"""',
      "'''\n'''",
      '[\n1,\n2]',
      '{ a = 1 }',
    );
    const part = fc.oneof(
      fc.constantFrom('', '# budget = 1', '   ', '\t# [raymond]'),
      fc.record({ name, value, comment: fc.constantFrom('', ' # x = 1') }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const lines: string[] = [];
        const expected: [string, string, number][] = [];
        for (const [index, each] of parts.entries()) {
          if (typeof each === 'string') {
            lines.push(each);
            continue;
          }
          lines.push(`[table${index}]`);
          expected.push([`table${index}`, each.name.replace(/^["']|["']$/g, ''), lines.length + 1]);
          lines.push(...`${each.name} = ${each.value}${each.comment}`.split('\n'));
        }
        const lineOf = locateConfigKeys(lines.join('\n'));
        expect(expected.map(([table, key]) => [table, key, lineOf(table, key)])).toStrictEqual(expected);
      }),
    );
  });
});
