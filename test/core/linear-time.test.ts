import { describe, expect, test } from 'vitest';
import { interpretAnswer } from '../../src/core/answers/answer.ts';
import { createPrintReader } from '../../src/language/tags/prints.ts';
import { renderTemplate } from '../../src/language/text/template.ts';
import { contextOf, entryOf } from './builders.ts';
import { FAR_BELOW_QUADRATIC, growthBetween } from './growth.ts';

const LONG = 2 ** 18;

const growth = (work: (text: string) => unknown, shape: (length: number) => string, length = LONG): number =>
  growthBetween(work, shape(length / 8), shape(length));

const filled = (piece: string) => (length: number) => piece.repeat(Math.ceil(length / piece.length));
const counted = (piece: (i: number) => string) => (length: number) => {
  const pieces: string[] = [];
  for (let i = 1, size = 0; size < length; i++) {
    const next = piece(i);
    pieces.push(next);
    size += next.length;
  }
  return pieces.join('');
};
const half = (open: string, close: string) => (length: number) => {
  const count = Math.ceil(length / (open.length + close.length));
  return open.repeat(count) + close.repeat(count);
};
const between = (open: string, shape: (length: number) => string, close: string) => (length: number) =>
  open + shape(length) + close;

describe('an answer is parsed in linear time:', () => {
  test.each([
    ['beginnings of tags', filled('<goto')],
    ['beginnings of tags, each on its line', filled('<goto\n')],
    ['opening tags', filled('<goto>')],
    ['opening tags of every kind', filled('<goto><reset><call><function><fork><result>')],
    ['closing tags', filled('</goto>')],
    ['unclosed <print>s', filled('<print>')],
    ['<print>s that end where others begin', half('<print>', '</print>')],
    ['half closing tags after one tag', between('<result>', filled('</result '), '')],
    ['attributes that never end', filled('<goto x="')],
    ['one attribute that never ends', between('<goto x="', filled('y'), '')],
    ['unbalanced quotes', between('<goto ', filled('x="'), '>')],
    ['alternating quotes', between('<goto ', filled(`a="'"b='"'`), '>A</goto>')],
    [
      'one tag with many attributes',
      between(
        '<goto ',
        counted((i) => `a${i}="x" `),
        '>A</goto>',
      ),
    ],
    ['one tag with one attribute many times', between('<fork ', filled('a="x" '), 'next=N>W</fork>')],
    ['a name that never ends', between('<goto ', filled('x'), '')],
    ['blanks in a tag', between('<goto', filled(' '), '')],
    ['blanks around =', between('<goto x', filled(' '), '= "')],
    ['blanks after =', between('<goto x=', filled(' '), '>')],
    ['blanks in closing tags', between('<goto>A', filled(`</goto${' '.repeat(1000)}`), '')],
    ['an endless state', between('<goto>', filled('A'), '</goto>')],
    ['line breaks', filled('\n')],
    ['lines of blanks', filled(`${' '.repeat(500)}\n`)],
    ['carriage returns', filled('\r <')],
    ['backticks', filled('`')],
    ['pairs of backticks', filled('`` ` <')],
    ['backticks of growing lengths', counted((i) => `${'`'.repeat(i)} <`)],
    ['backticks of growing lengths, each on its line', counted((i) => `${'`'.repeat(i)}\n<`)],
    [
      'backticks of shrinking lengths, each on its line',
      (length: number) => {
        const most = Math.floor(Math.sqrt(2 * length));
        return Array.from({ length: most }, (_, i) => '`'.repeat(most - i)).join('\n<\n');
      },
    ],
    ['backticks in many paragraphs', filled('` `` <\n\n')],
    ['unclosed fences with info strings', filled('```xml\n<goto>A</goto>\n')],
    ['unclosed fences of both marks', filled('```xml\n~~~js\n<')],
    ['long fences that only shorter ones could close', between(filled('````x\n')(LONG / 8), filled('```\n<'), '')],
    ['fences', filled('```\n<goto>A</goto>\n```\n')],
    ['beginnings of comments', filled('<!--')],
    ['beginnings of comments in code', between('```\n', filled('<!-- <goto>A</goto>\n'), '\n```')],
    ['comments', filled('<!-- <goto>A</goto> -->')],
    ['short comments', filled('<!-->')],
    ['nested results', half('<result>', '</result>')],
    ['nested results that are not closed', half('<result><result>', '</result>')],
    ['results that close themselves in one that does not', between('<result>', filled('<result />'), '')],
    ['many tags on one line', filled('<goto>A</goto>')],
    ['many tags in code', filled('`<goto>A</goto>` ')],
    ['many different gotos', counted((i) => `<goto>A${i}</goto>\n`)],
    ['many different results', counted((i) => `<result>${i}</result>\n`)],
    ['many forks', counted((i) => `<fork next="N" item="${i}">W</fork>\n`)],
    ['many forks that agree in different words', filled('<fork next="N">W</fork><fork next=" N.md ">W</fork>')],
    ['plain prose', filled('The tag is a < b > c "quoted" text, and `code`.\n')],
  ])('%s', (_, shape) => {
    const context = contextOf({ policy: [entryOf('goto', 'A'), entryOf('fork')] });
    expect(growth((text) => interpretAnswer(text, context), shape)).toBeLessThan(FAR_BELOW_QUADRATIC);
  });
});

describe('the <print>s of a text in pieces are read in linear time:', () => {
  const readInPieces = (text: string): void => {
    const reader = createPrintReader();
    for (let at = 0; at < text.length; at += 1_000) reader.push(text.slice(at, at + 1_000));
    reader.end();
  };
  test.each([
    ['unclosed tags', filled('<print>')],
    ['unclosed tags with a text', filled(`<print>${'x'.repeat(50)}`)],
    ['one unclosed tag', between('<print>', filled('x '), '')],
    ['one unclosed tag before beginnings of others', between('<print>', filled('</print'), '')],
    ['angles', filled('<')],
    ['backticks', filled('`')],
    ['odd backticks', filled('` `` ')],
    ['unclosed comments', filled('<!-- ')],
    ['unclosed results', filled('<result> <print>a</print> ')],
    ['fences', filled('```\n')],
    ['blank lines in a fence', between('```\n', filled(' '), '')],
  ])('%s', (_, shape) => {
    expect(growth(readInPieces, shape)).toBeLessThan(FAR_BELOW_QUADRATIC);
  });
});

describe('a prompt is rendered in linear time:', () => {
  test.each([
    ['braces', filled('{')],
    ['braces that never close', filled('{{x')],
    ['blanks in braces', filled(`{{${' '.repeat(1000)}`)],
    ['one endless name', between('{{', filled('x'), '')],
    ['blanks after a name', between('{{x', filled(' '), '')],
    ['variables', filled('{{x}}')],
    ['unknown variables', counted((i) => `{{y${i}}}`)],
    ['backslashes', filled('\\')],
  ])('%s', (_, shape) => {
    const work = (text: string) => renderTemplate(text, { x: '{{x}}' });
    expect(growth(work, shape)).toBeLessThan(FAR_BELOW_QUADRATIC);
  });
});

test('the measurement distinguishes quadratic from linear work', () => {
  const quadratic = ({ length }: string) => {
    let sum = 0;
    for (let i = 0; i < length; i++) for (let j = 0; j < length; j++) sum += i ^ j;
    return sum;
  };
  expect(growth(quadratic, filled('a'), 2 ** 13)).toBeGreaterThan(FAR_BELOW_QUADRATIC);
});

test.each([
  ['`<goto`', '<goto'],
  ['`<goto>`', '<goto>'],
  ['unbalanced quotes', '<goto x="'],
  ['backticks', '` '],
])('a megabyte of %s is parsed', (_, piece) => {
  const text = piece.repeat(Math.ceil(2 ** 20 / piece.length));
  expect(interpretAnswer(text, contextOf()).kind).toBe('wrong');
});
