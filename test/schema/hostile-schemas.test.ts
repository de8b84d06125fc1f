import { describe, expect, test } from 'vitest';
import type { JsonSchema } from '../../src/language/state.ts';
import { checkResult, findSchemaProblems } from '../../src/schema/check-result.ts';

/** 2 ** `levels` checks, although the schema is small. */
const doubling = (levels: number): JsonSchema => {
  const twice = (level: number): object[] => Array.from({ length: 2 }, () => ({ $ref: `#/$defs/l${level}` }));
  const names = Array.from({ length: levels }, (_, level) => [`l${level}`, { allOf: twice(level + 1) }] as const);
  return { $ref: '#/$defs/l0', $defs: { ...Object.fromEntries(names), [`l${levels}`]: { type: 'number' } } };
};

const A_AND_BANG = JSON.stringify(`${'a'.repeat(50_000)}!`);

describe('a result that cannot be checked in time says so, and is not handed on', () => {
  test.each<[string, JsonSchema, string]>([
    ['a pattern with a lookahead', { type: 'string', pattern: '(?=(a+)+$)b' }, A_AND_BANG],
    ['a pattern with a back reference', { type: 'string', pattern: '^((a+)+)\\1+$' }, A_AND_BANG],
    ['a pattern for names', { patternProperties: { '(?=(a+)+$)b': {} } }, `{${A_AND_BANG}: 1}`],
    ['references that double', doubling(40), '1'],
    [
      'many different objects',
      { type: 'array', uniqueItems: true },
      JSON.stringify(Array.from({ length: 30_000 }, (_, n) => ({ a: { b: n } }))),
    ],
  ])('%s', async (_, schema, text) => {
    expect(await checkResult(text, schema, 300)).toStrictEqual({
      problem: 'to check it by `result_schema` takes too long',
      cannotCheck: true,
    });
  });
});

test.each<[string, JsonSchema]>([
  ['directly', { $ref: '#' }],
  ['through others', { anyOf: [{ allOf: [{ $ref: '#' }] }] }],
  ['dynamically', { $dynamicAnchor: 'x', $dynamicRef: '#x' }],
])('a schema that refers to itself %s without end is not valid and cannot check anything', async (_, schema) => {
  expect(await findSchemaProblems(schema)).toStrictEqual([
    { pointer: '', message: 'the schema refers to itself without end' },
  ]);
  expect(await checkResult('1', schema)).toStrictEqual({
    problem: 'the schema refers to itself without end',
    cannotCheck: true,
  });
});

test.each(['^(a+)+$', '^(\\w+\\s?)*$', '(a|aa)+$', '^(a|b|ab)*c$'])(
  'the pattern %j is matched in linear time',
  async (pattern) => {
    const text = JSON.stringify('a'.repeat(50_000));
    expect(await checkResult(A_AND_BANG, { pattern })).toHaveProperty('problem', expect.stringMatching('must match'));
    expect(await checkResult(text, { pattern: `^(?:${pattern}|a*)$` })).toStrictEqual({ text });
  },
);

test('millions of wrong items are reported as one mistake', async () => {
  const text = `[${'"x",'.repeat(2_000_000)}"x"]`;
  expect(await checkResult(text, { items: { type: 'number' } })).toStrictEqual({ problem: '`/0` must be number' });
});

test('a recursive schema checks a value as deep as JSON may be, and a deeper one is no JSON', async () => {
  const tree: JsonSchema = { type: 'array', items: { $ref: '#' } };
  const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(await checkResult(nest(500), tree)).toStrictEqual({ text: nest(500) });
  expect(await checkResult(nest(501), tree)).toStrictEqual({
    problem: 'it is not JSON (nested more than 500 levels deep)',
  });
});

test('a long list of permitted values is not repeated as a whole', async () => {
  const values = Array.from({ length: 100_000 }, (_, n) => `value ${n}`);
  const checked = await checkResult('"x"', { enum: values });
  expect('problem' in checked && checked.problem.length).toBeLessThan(1_000);
});

test('a schema that takes too long to compile is not valid', async () => {
  const properties = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`p${n}`, { type: 'string' }]));
  expect(await findSchemaProblems({ properties }, 20)).toStrictEqual([
    { pointer: '', message: 'it takes too long to compile' },
  ]);
});
