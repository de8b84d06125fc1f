import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderTemplate } from '../../src/language/text/template.ts';

test.each([
  ['a variable', 'Do {{item}} now', { item: 'this' }, 'Do this now'],
  ['the same variable twice', '{{a}}{{a}}', { a: 'x' }, 'xx'],
  ['blanks inside the braces', '{{ a }}{{\ta\n}}', { a: 'x' }, 'xx'],
  ['a name with a dash and foreign letters', '{{größe-1}}', { 'größe-1': 'x' }, 'x'],
  ['an empty value', '[{{a}}]', { a: '' }, '[]'],
  ['braces around the braces', '{{{a}}}', { a: 'x' }, '{x}'],
])('fills in %s', (_, template, variables, text) => {
  expect(renderTemplate(template, variables)).toStrictEqual({ text, unknown: [] });
});

test.each([
  ['an escaped one, without its backslash', '\\{{a}} {{a}}', '{{a}} x'],
  ['an escaped one with blanks', '\\{{ a }}', '{{ a }}'],
  ['an escaped one that does not exist', '\\{{nope}}', '{{nope}}'],
  ['single braces', '{a} {{a}', '{a} {{a}'],
  ['empty braces', '{{}} {{ }}', '{{}} {{ }}'],
  ['two words in braces', '{{a b}}', '{{a b}}'],
  ['a backslash that escapes nothing', 'C:\\dir\\', 'C:\\dir\\'],
])('keeps %s', (_, template, text) => {
  expect(renderTemplate(template, { a: 'x' })).toStrictEqual({ text, unknown: [] });
});

test('keeps an unknown variable as written and reports it once', () => {
  expect(renderTemplate('{{ nope }} {{a}} {{nope}} {{gone}}', { a: 'x' })).toStrictEqual({
    text: '{{ nope }} x {{nope}} {{gone}}',
    unknown: ['nope', 'gone'],
  });
});

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('does not take %s for a variable', (name) => {
  expect(renderTemplate(`{{${name}}}`, {})).toStrictEqual({ text: `{{${name}}}`, unknown: [name] });
});

test.each([
  ['what looks like a variable', '{{b}}'],
  ['itself', '{{a}}'],
  ['half a variable', '{{'],
  ['an escaped variable', '\\{{b}}'],
  ['patterns of String.replace', "$& $1 $$ $` $' $<name>"],
  ['backslashes', '\\n \\\\ \\'],
])('never expands a value that contains %s', (_, value) => {
  expect(renderTemplate('<{{a}}>', { a: value, b: 'no' })).toStrictEqual({ text: `<${value}>`, unknown: [] });
});

test('does not form a variable from two adjacent values', () => {
  expect(renderTemplate('{{a}}{{b}}', { a: '{{', b: 'a}}' }).text).toBe('{{a}}');
});

const awkward = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc
    .array(fc.constantFrom('{{x}}', '{{', '}}', '$&', '$1', '$$', '\\', 'x', '\n', '\ud800'))
    .map((all) => all.join('')),
);

test('any value is inserted verbatim, once for each use', () => {
  fc.assert(
    fc.property(awkward, fc.array(fc.string({ unit: fc.constantFrom('a', ' ', '$', '\n') })), (value, parts) => {
      expect(renderTemplate(parts.join('{{x}}'), { x: value }).text).toBe(parts.join(value));
    }),
  );
});

test('text without braces is never changed', () => {
  fc.assert(
    fc.property(awkward, fc.dictionary(fc.string(), fc.string()), (text, variables) => {
      const plain = text.replaceAll('{', '');
      expect(renderTemplate(plain, variables)).toStrictEqual({ text: plain, unknown: [] });
    }),
  );
});

describe('a part of a result', () => {
  const result = '{"a":"x","n":{"list":[1,{"b":true}]},"nothing":null,"{{a}}":"{{a}}"}';
  test.each([
    ['{{result.a}}', 'x'],
    ['{{ input.a }}', 'x'],
    ['{{result.n.list.0}}', '1'],
    ['{{result.n.list.1.b}}', 'true'],
    ['{{result.n.list.1}}', '{\n  "b": true\n}'],
    ['{{result.nothing}}', 'null'],
    ['\\{{result.a}}', '{{result.a}}'],
  ])('%s is %j', (template, text) => {
    expect(renderTemplate(template, { result, input: result })).toStrictEqual({ text, unknown: [] });
  });

  test.each(['{{result.b}}', '{{result.a.length}}', '{{result.n.list.length}}', '{{result.toString}}', '{{result.}}'])(
    '%s is not set',
    (template) => {
      expect(renderTemplate(template, { result })).toStrictEqual({ text: template, unknown: [template.slice(2, -2)] });
    },
  );

  test('of a result that is no JSON is not set', () => {
    expect(renderTemplate('{{result.a}}', { result: 'text' }).unknown).toStrictEqual(['result.a']);
  });

  test('gives way to a variable of that name', () => {
    expect(renderTemplate('{{result.a}}', { result, 'result.a': 'own' }).text).toBe('own');
  });
});
