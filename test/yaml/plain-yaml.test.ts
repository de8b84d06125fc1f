import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newFindingReport } from '../../src/yaml/finding-report.ts';
import { readPlainYaml } from '../../src/yaml/plain-yaml.ts';
import type { YamlValue } from '../../src/yaml/value.ts';
import { parseYamlBlock } from '../../src/yaml/yaml-block.ts';

/** A value with all that it holds, to be compared. */
function unfolded(value: YamlValue | undefined): unknown {
  if (value?.kind === 'list') return { kind: 'list', at: value.at, items: value.items().map(unfolded) };
  if (value?.kind === 'mapping')
    return { kind: 'mapping', at: value.at, pairs: value.pairs().map((pair) => pair.map(unfolded)) };
  return value;
}

function parsed(block: string): unknown {
  const report = newFindingReport('A.md');
  const value = parseYamlBlock(block, report);
  return { value: unfolded(value), findings: report.findings };
}

const POLICY = `model: sonnet
allowed_transitions:
  - { tag: goto, target: NEXT.md }
  - {tag: call ,  target: B, return: C.md}

allowed_tools:
- Read
- Bash
`;

describe('plain frontmatter', () => {
  test('is read without the parser, and is the same', () => {
    expect({ value: unfolded(readPlainYaml(POLICY)), findings: [] }).toStrictEqual(parsed(POLICY));
  });

  test.each([
    '',
    '\n',
    'model:',
    'model: true',
    'model: Null',
    'model: 1',
    'model: "sonnet"',
    'model: sonnet # fast',
    'model: a b',
    'model: &a sonnet',
    ' model: sonnet',
    '- a',
    'model: sonnet\n- a',
    'a:\n  - b\n - c',
    'a:\n  - {}',
    'a:\n  - { b: c, }',
    'a:\n  - { b }',
    'a:\n  - b: c',
    'a:\n\t- b',
    'a: [b]',
    'a: b\r',
    `${'a'.repeat(300)}: b`,
  ])('%j is left to the parser', (block) => {
    expect(readPlainYaml(block)).toBeUndefined();
  });

  test('whatever is read without the parser is what the parser would have read', () => {
    const word = fc.constantFrom(
      'a',
      'b.md',
      'true',
      'null',
      'NULL',
      'truest',
      'null.md',
      'x/y',
      '_',
      '1',
      'a-',
      '.inf',
    );
    const space = fc.constantFrom('', ' ', '  ', ' ', ' ');
    const pair = fc.tuple(word, space, word).map(([key, gap, value]) => `${key}:${gap}${value}`);
    const flow = fc
      .tuple(
        fc.array(
          fc.tuple(space, pair, space).map((parts) => parts.join('')),
          { maxLength: 3 },
        ),
        space,
      )
      .map(([pairs, gap]) => `{${pairs.join(',')}${gap}}`);
    const item = fc.tuple(space, space, fc.oneof(word, flow, pair)).map(([indent, gap, it]) => `${indent}-${gap}${it}`);
    const key = fc.tuple(word, space).map(([name, gap]) => `${name}:${gap}`);
    const odd = fc.constantFrom('', ' ', '# note', '---', '...', '  b: c', '"q": "r"');
    const line = fc.oneof(
      { weight: 4, arbitrary: pair },
      { weight: 6, arbitrary: item },
      { weight: 4, arbitrary: key },
      odd,
    );
    const block = fc.array(line, { minLength: 1, maxLength: 8 }).map((lines) => lines.join('\n'));
    fc.assert(
      fc.property(block, fc.constantFrom('', '\n'), (text, end) => {
        const plain = readPlainYaml(text + end);
        fc.pre(plain !== undefined);
        expect({ value: unfolded(plain), findings: [] }).toStrictEqual(parsed(text + end));
      }),
      { numRuns: 500, maxSkipsPerRun: 1000 },
    );
  });
});
