import { expect, test } from 'vitest';
import { readForkItems } from '../../src/core/answers/answer.ts';
import { describeJsonProblem, hasNul, MAX_JSON_DEPTH, tryParseJson } from '../../src/language/text/json.ts';
import { renderTemplate } from '../../src/language/text/template.ts';

const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);

test('JSON may be nested only so deep that its value can be walked', () => {
  expect(JSON.stringify(tryParseJson(nest(MAX_JSON_DEPTH)))).toBe(nest(MAX_JSON_DEPTH));
  expect(tryParseJson(nest(MAX_JSON_DEPTH + 1))).toBeUndefined();
  expect(describeJsonProblem(nest(9_000))).toBe('nested more than 500 levels deep');
});

test('brackets in strings do not count', () => {
  const text = JSON.stringify({ a: '['.repeat(9_000), b: `\\"${'{'.repeat(9_000)}\\\\` });
  expect(JSON.stringify(tryParseJson(text))).toBe(text);
});

test.each(['items.json', 'items.jsonl'])('deep items in %s are refused', (file) => {
  expect(readForkItems(file, nest(9_000), undefined, 'unix')).toMatch(/not JSON/);
});

test('a part of a deep result is unknown', () => {
  expect(renderTemplate('{{result.0}}', { result: nest(9_000) }).unknown).toStrictEqual(['result.0']);
});

test('a NUL character is found anywhere in data', () => {
  expect([{ a: ['x\0'] }, { 'a\0': 1 }, '\0', [['\\u0000']]].map(hasNul)).toStrictEqual([true, true, true, false]);
});
