import { describe, expect, test } from 'vitest';
import { judge } from '../../src/core/answer.ts';
import { render } from '../../src/core/template.ts';
import { contextOf, entryOf } from './builders.ts';

/**
 * How much more CPU time the work takes on input eight times as long: 8 if it is linear, 64 if it is quadratic.
 * Times below a millisecond are taken for one: they say nothing.
 */
function growth(work: (text: string) => void, shape: (length: number) => string, length: number): number {
  const [short, long] = [shape(length), shape(8 * length)];
  const [small, large] = [best(() => work(short), 5), best(() => work(long), 3)];
  return large / Math.max(small, 1000);
}

/** The least CPU time of several runs, in microseconds. */
function best(work: () => void, runs: number): number {
  const times = Array.from({ length: runs }, () => {
    const before = process.cpuUsage();
    work();
    return process.cpuUsage(before).user;
  });
  return Math.min(...times);
}

const FAR_BELOW_QUADRATIC = 24;
const EIGHTH_OF_A_MEGABYTE = 2 ** 17;

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

describe('an answer is judged in linear time:', () => {
  test.each([
    ['beginnings of tags', filled('<goto')],
    ['beginnings of tags, each on its line', filled('<goto\n')],
    ['opening tags', filled('<goto>')],
    ['opening tags of every kind', filled('<goto><reset><call><function><fork><result>')],
    ['closing tags', filled('</goto>')],
    ['half closing tags after one tag', between('<result>', filled('</result '), '')],
    ['attributes that never end', filled('<goto x="')],
    ['one attribute that never ends', between('<goto x="', filled('y'), '')],
    ['unbalanced quotes', between('<goto ', filled('x="'), '>')],
    ['alternating quotes', between('<goto ', filled(`a="'"b='"'`), '>A</goto>')],
    ['one tag with many attributes', between('<goto ', counted((i) => `a${i}="x" `), '>A</goto>')],
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
    ['backticks of shrinking lengths, each on its line', (length: number) => {
      const most = Math.floor(Math.sqrt(2 * length));
      return Array.from({ length: most }, (_, i) => '`'.repeat(most - i)).join('\n<\n');
    }],
    ['backticks in many paragraphs', filled('` `` <\n\n')],
    ['unclosed fences with info strings', filled('```xml\n<goto>A</goto>\n')],
    ['unclosed fences of both marks', filled('```xml\n~~~js\n<')],
    ['long fences that only shorter ones could close', between(filled('````x\n')(EIGHTH_OF_A_MEGABYTE), filled('```\n<'), '')],
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
    expect(growth((text) => judge(text, context), shape, EIGHTH_OF_A_MEGABYTE)).toBeLessThan(FAR_BELOW_QUADRATIC);
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
    const work = (text: string) => render(text, { x: '{{x}}' });
    expect(growth(work, shape, EIGHTH_OF_A_MEGABYTE)).toBeLessThan(FAR_BELOW_QUADRATIC);
  });
});

test('the yardstick tells quadratic work from linear work', () => {
  const quadratic = (text: string) => text.split('').filter((_, i, all) => all.lastIndexOf('b', -1 - i) >= 0);
  expect(growth(quadratic, filled('a'), 4000)).toBeGreaterThan(FAR_BELOW_QUADRATIC);
});
