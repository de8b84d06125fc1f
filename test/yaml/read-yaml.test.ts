import { describe, expect, test } from 'vitest';
import { newFindingReport } from '../../src/yaml/finding-report.ts';
import { readYaml } from '../../src/yaml/read-yaml.ts';

function read(text: string, firstLine?: number) {
  const report = newFindingReport('a.yaml');
  const value = readYaml(text, report, firstLine);
  return {
    value,
    said: report.findings.map(({ line, column, message }) => `${line}:${column} ${message}`),
  };
}

const text = (line: number, column: number, content: string) => ({ kind: 'text', at: { line, column }, text: content });

describe('positioned YAML', () => {
  test('has the position of every value, counted from the given first line', () => {
    expect(read('a: b\nc:\n  - 1.50\n  - yes\n', 2).value).toStrictEqual({
      kind: 'mapping',
      at: { line: 2, column: 1 },
      pairs: [
        [text(2, 1, 'a'), text(2, 4, 'b')],
        [
          text(3, 1, 'c'),
          {
            kind: 'list',
            at: { line: 4, column: 3 },
            items: [{ kind: 'number', at: { line: 4, column: 5 }, number: 1.5, source: '1.50' }, text(5, 5, 'yes')],
          },
        ],
      ],
    });
  });

  test('places an omitted value at its key', () => {
    expect(read('a:').value).toMatchObject({
      pairs: [[text(1, 1, 'a'), { kind: 'nothing', at: { line: 1, column: 1 } }]],
    });
  });

  test('has the same positions with CRLF, and no CR in a text', () => {
    expect(read('a: |\r\n  b\r\n  c\r\nd: e\r\n').value).toMatchObject({
      pairs: [
        [{}, { text: 'b\nc\n' }],
        [{ at: { line: 4, column: 1 } }, {}],
      ],
    });
  });

  test('replaces an alias, which has its own position', () => {
    expect(read('a: &x [b]\nc: *x').value).toMatchObject({
      pairs: [{}, [{}, { kind: 'list', at: { line: 2, column: 4 }, items: [text(1, 8, 'b')] }]],
    });
  });

  test('is nothing for an empty text', () => {
    for (const empty of ['', '# later\n', '\n']) expect(read(empty, 2).value).toMatchObject({ kind: 'nothing' });
  });
});

describe('positioned YAML is refused', () => {
  test('with too many aliases, counted as often as they are used', () => {
    const levels = [
      '&l0 a',
      ...Array.from({ length: 3 }, (_, at) => `&l${at + 1} [${Array(9).fill(`*l${at}`).join()}]`),
    ];
    expect(read(`[${levels.slice(0, 3).join(', ')}]`).said).toStrictEqual([]);
    expect(read(`[${levels.join(', ')}, *l3]`)).toStrictEqual({
      value: undefined,
      said: [expect.stringMatching(/^1:\d+ there are more than 1000 aliases/)],
    });
  });

  test.each([
    ['open brackets', '['.repeat(20_000)],
    ['brackets', '['.repeat(500) + ']'.repeat(500)],
    ['lists', `${'- '.repeat(500)}a`],
  ])('with too many nested %s', (_, yaml) => {
    const { value, said } = read(yaml);
    expect([value, said.length, said[0]?.replace(/^.*: |^\S+ /, '')]).toStrictEqual([
      undefined,
      1,
      'this is nested too deeply',
    ]);
  });

  test('with a merge key, unless it is quoted', () => {
    expect(read('a: &x { b: c }\nd: { <<: *x }').said).toStrictEqual([
      '2:6 merge keys (`<<`) are not supported: write the keys out',
    ]);
    expect(read('"<<": a').said).toStrictEqual([]);
  });
});
