import { describe, expect, test } from 'vitest';
import { checkResult, findSchemaProblems } from '../../src/schema/check-result.ts';

const SCHEMA = {
  type: 'object',
  required: ['bugs'],
  additionalProperties: false,
  properties: {
    bugs: { type: 'array', items: { $ref: '#/$defs/bug' } },
    verdict: { enum: ['YES', 'NO'] },
  },
  $defs: {
    bug: { type: 'object', required: ['file'], properties: { file: { type: 'string' }, line: { type: 'integer' } } },
  },
};

describe('a result', () => {
  test.each([
    ['is JSON that fits', '{"bugs":[{"file":"a.ts","line":3}]}', undefined],
    ['may stand in a code block', '```json\n{"bugs":[]}\n```', '{"bugs":[]}'],
  ])('%s', async (_, text, handedOn) => {
    expect(await checkResult(text, SCHEMA)).toStrictEqual({ text: handedOn ?? text });
  });

  test.each([
    ['is no JSON', 'three bugs', /^it is not JSON \(.+\)$/],
    ['is empty', '', /^it is empty and should be JSON$/],
    ['lacks something', '{}', /^it must have required property 'bugs'$/],
    ['has a wrong type deep inside', '{"bugs":[{"file":7}]}', /^`\/bugs\/0\/file` must be string$/],
    ['has too much', '{"bugs":[],"x":1}', /^it must not have `x`$/],
    ['is none of the permitted values', '{"bugs":[],"verdict":"Yes"}', /^`\/verdict` must be one of "YES", "NO"$/],
    ['has many mistakes', '{"bugs":[1,2,3,4,5]}', /^`\/bugs\/0` must be object; .*; .*, and 2 more$/],
  ])('does not fit if it %s', async (_, text, problem) => {
    expect(await checkResult(text, SCHEMA)).toStrictEqual({ problem: expect.stringMatching(problem) });
  });

  test('may be a plain text where the schema wants a string', async () => {
    expect(await checkResult('YES', { enum: ['YES', 'NO'] })).toStrictEqual({ text: 'YES' });
    expect(await checkResult('three words here', { type: 'string', maxLength: 5 })).toHaveProperty('problem');
  });

  test('is checked by an older draft if the schema says so', async () => {
    const schema = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items: [{ type: 'number' }] };
    expect(await checkResult('["a"]', schema)).toStrictEqual({ problem: '`/0` must be number' });
  });
});

describe('a schema', () => {
  test('that is one has no problems', async () => {
    expect(await findSchemaProblems(SCHEMA)).toStrictEqual([]);
    expect(await findSchemaProblems(true)).toStrictEqual([]);
  });

  test.each([
    ['has an unknown type', { properties: { a: { type: 'strng' } } }, '/properties/a/type', /must be.*, not "strng"$/],
    ['has an unknown keyword', { requird: ['a'] }, '', /^`requird` is no keyword of it$/],
    [
      'refers to a schema elsewhere',
      { $ref: 'https://example.com/s.json' },
      '',
      /^`\$ref` `https:\S+` leads to no place/,
    ],
    ['has a pattern that is none', { pattern: '(' }, '', /[Ii]nvalid regular expression|pattern/],
  ])('is refused once if it %s', async (_, schema, pointer, message) => {
    expect(await findSchemaProblems(schema)).toStrictEqual([{ pointer, message: expect.stringMatching(message) }]);
  });
});
