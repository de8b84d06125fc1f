import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createPrintReader, MAX_PRINT_CHARS, readPrints } from '../../src/language/tags/prints.ts';

const textsOf = (text: string) => readPrints(text).prints;

/** Reads a text cut at these places. */
function readInPieces(text: string, cuts: readonly number[]) {
  const reader = createPrintReader();
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
  const pieces = places.slice(1).map((end, index) => reader.push(text.slice(places[index], end)));
  const all = [...pieces, reader.end()];
  return { prints: all.flatMap(({ prints }) => prints), rest: all.map(({ rest }) => rest).join('') };
}

describe('a <print>', () => {
  test.each([
    ['alone', '<print>hello</print>', ['hello']],
    ['in a sentence', 'so <print>hello</print>, then', ['hello']],
    ['in any letter case', '<Print>hello</PRINT >', ['hello']],
    ['of several lines', '<print>\none\n two\n</print>', ['one\n two']],
    ['with attributes, which mean nothing', '<print level="2">hello</print>', ['hello']],
    ['with other markup in it', '<print>a <b>c</b> `d` <goto>X</goto></print>', ['a <b>c</b> `d` <goto>X</goto>']],
    ['after another one', '<print>a</print><print>b</print>', ['a', 'b']],
    ['after one that was only mentioned', 'Use <print> for this: <print>a</print>', ['a']],
    ['after an apostrophe of the old kind', "make: `foo' is up to date\n<print>a</print>", ['a']],
    ['after inline code', '`x` <print>a</print>', ['a']],
    ['after code at the beginning of a line', '```x``` <print>a</print>', ['a']],
    ['after fenced code', '```\n<print>no</print>\n```\n<print>a</print>', ['a']],
    ['after fenced code within longer marks', '````\n```\n<print>no</print>\n````\n<print>a</print>', ['a']],
    ['after a comment', '<!-- <print>no</print> --><print>a</print>', ['a']],
    ['after a result', '<result>no</result><print>a</print>', ['a']],
    ['that is as long as it may be', `<print>${'x'.repeat(MAX_PRINT_CHARS)}</print>`, ['x'.repeat(MAX_PRINT_CHARS)]],
  ])('is read %s', (_, text, prints) => {
    expect(textsOf(text)).toStrictEqual(prints);
  });

  test.each([
    ['in inline code', '`<print>a</print>`'],
    ['in inline code with several backticks', '``a ` <print>a</print> ``'],
    ['in fenced code', '```\n<print>a</print>\n```'],
    ['in fenced code of tildes', '  ~~~ html\n<print>a</print>\n  ~~~'],
    ['in fenced code that is never closed', '```xml\n<print>a</print>'],
    ['in the line that begins fenced code', '```<print>a</print>\n'],
    ['in a comment', '<!-- <print>a</print> -->'],
    ['in a result, whose text it is', '<result>x <print>a</print> y</result>'],
    ['without a text', '<print> \n </print><print/>'],
    ['that is never closed', '<print>a'],
    ['that is too long', `<print>${'x'.repeat(MAX_PRINT_CHARS + 1)}</print>`],
    ['of another name', '<printer>a</printer><prints>b</prints>'],
  ])('is none %s', (_, text) => {
    expect(textsOf(text)).toStrictEqual([]);
  });

  test('is taken out of the text, and nothing else is', () => {
    expect(readPrints('a <print>b</print> c <print>d')).toStrictEqual({ prints: ['b'], rest: 'a  c <print>d' });
  });

  test('is known as soon as it is closed', () => {
    const reader = createPrintReader();
    const prints = ['working <pri', 'nt>one', ' two</pr', 'int>'].map((piece) => reader.push(piece).prints);
    expect(prints).toStrictEqual([[], [], [], ['one two']]);
  });

  test('does not hold back the text before it', () => {
    expect(createPrintReader().push('one < two <pr')).toStrictEqual({ prints: [], rest: 'one < two ' });
  });
});

const fragment = fc.constantFrom(
  '<print>',
  '</print>',
  '<print',
  '>',
  '</',
  'print',
  '<result>',
  '</result>',
  '<!--',
  '-->',
  '`',
  '``',
  '```',
  '\n',
  ' ',
  '~~~',
  'text',
  '<',
  '/>',
  '```\n',
  '<print a="1">',
  '\n~~~~\n',
  '-',
  '<goto>A</goto>',
);
const text = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(''));

test('the same is read however the text is cut', () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(), { maxLength: 30 }), (whole, cuts) => {
      expect(readInPieces(whole, cuts)).toStrictEqual(readInPieces(whole, []));
    }),
    { numRuns: 2_000 },
  );
});

test('the same is read of a text that comes letter by letter', () => {
  fc.assert(
    fc.property(text, (whole) => {
      expect(
        readInPieces(
          whole,
          [...whole].map((_, index) => index),
        ),
      ).toStrictEqual(readInPieces(whole, []));
    }),
    { numRuns: 1_000 },
  );
});
