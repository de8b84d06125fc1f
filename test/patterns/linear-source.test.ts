import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, test } from 'vitest';
import { toLinearSource } from '../../src/patterns/linear-source.ts';

/** Searches with the engine of linear time; undefined if the pattern or the text remains for that of JavaScript. */
function searchLinear(pattern: string, flags: string, text: string): boolean | undefined {
  const linear = toLinearSource(pattern, flags);
  if (linear === null || linear.unfit?.test(text)) return undefined;
  return RE2JS.compile(linear.source, linear.ignoresCase ? RE2JS.CASE_INSENSITIVE : 0)
    .matcher(text)
    .find();
}

const ATOMS =
  'a|b|k|S|é|ſ|ü|\\n|.|^|$|\\b|\\B|\\d|\\D|\\w|\\W|\\s|\\S|[ab]|[^ab]|[a-f\\d]|[\\s.-]|[^]|\\x61|\\u00e9|\\.|\\-|-|]|\\t|[\\b]|\\cA|\\p{L}'.split(
    '|',
  );
const atom = fc.oneof(fc.constantFrom(...ATOMS), fc.constant('|'));
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '*?', '{2}', '{0,2}', '{1,}');
const group = fc
  .tuple(fc.constantFrom('(', '(?:', '(?<n>', '(?=', '(?!'), fc.array(fc.tuple(atom, quantifier), { maxLength: 3 }))
  .map(([open, parts]) => `${open}${parts.flat().join('')})`);
const patterns = fc
  .array(fc.tuple(fc.oneof({ weight: 3, arbitrary: atom }, group), quantifier), { maxLength: 5 })
  .map((parts) => parts.flat().join(''));
const texts = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      'A',
      'k',
      's',
      'K',
      'ſ',
      'é',
      'É',
      '\n',
      '\r',
      '\u2028',
      ' ',
      '\u00a0',
      '\v',
      '1',
      '_',
      '.',
      '-',
      '\b',
      '😀',
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(''));

test('a pattern that is translated means the same in both engines', () => {
  let compared = 0;
  fc.assert(
    fc.property(patterns, fc.constantFrom('', 'm', 'i', 's', 'u', 'ims', 'mu', 'iu'), texts, (pattern, flags, text) => {
      let native: RegExp;
      try {
        native = new RegExp(pattern, flags);
      } catch {
        return;
      }
      const found = searchLinear(pattern, flags, text);
      if (found === undefined) return;
      compared += 1;
      expect(found).toBe(native.test(text));
    }),
    { numRuns: 3_000 },
  );
  expect(compared).toBeGreaterThan(300);
});

test.each(['(?=a)', '(?!a)', '(?<=a)b', '(?<!a)b', '(a)\\1', '(?<n>a)\\k<n>', '\\ud83d', '[\\s-\\uffff]', 'a{'])(
  '%j remains for the engine of JavaScript',
  (pattern) => {
    expect(toLinearSource(pattern, '')).toBeNull();
  },
);
