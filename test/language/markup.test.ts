import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blank, commentsOf, findRegions } from '../../src/language/text/markup.ts';
import { anyText } from '../core/builders.ts';

/** The regions of a text, each as its kind and what it covers. */
const regionsOf = (text: string): readonly (readonly [string, string])[] =>
  findRegions(text).map(({ kind, start, end }) => [kind, text.slice(start, end)]);

describe('code', () => {
  test.each([
    ['between backticks', 'a `b` c', ['`b`']],
    ['between as many backticks as opened it', '``a ` b``', ['``a ` b``']],
    ['over a line break', 'a `b\nc` d', ['`b\nc`']],
    ['twice on a line', '`a` and `b`', ['`a`', '`b`']],
    ['between fences of backticks', 'x\n```\na\n```\ny', ['```\na\n```']],
    ['between fences of tildes', '~~~\na\n~~~', ['~~~\na\n~~~']],
    ['after a fence with an info string', '```xml title\na\n```', ['```xml title\na\n```']],
    ['in an indented fence', '1. x\n   ```\n   a\n   ```\n', ['```\n   a\n   ```']],
    ['up to a longer closing fence', '```\na\n`````\n', ['```\na\n`````']],
    ['up to a closing fence with blanks after it', '```\na\n``` \t\nb', ['```\na\n``` \t']],
    ['with line ends of Windows', '```\r\na\r\n```\r\nb', ['```\r\na\r\n```\r']],
    ['past a shorter fence', '````\n```\na\n```\n````', ['````\n```\na\n```\n````']],
    ['past a fence of the other mark', '```\n~~~\na\n```\n', ['```\n~~~\na\n```']],
    ['past a fence that opens another', '```\n```xml\na\n```', ['```\n```xml\na\n```']],
    ['past blank lines, in a fence', '```\n\na\n\n```', ['```\n\na\n\n```']],
    ['past a comment that begins in it', '`<!--` x -->', ['`<!--`']],
    ['on a line that begins like a fence', '```a``` b\n\n```\nc\n```', ['```a```', '```\nc\n```']],
    ['with backticks in a fence of tildes', '~~~ `js`\na ` b\n~~~', ['~~~ `js`\na ` b\n~~~']],
  ])('is recognized %s', (_, text, code) => {
    expect(regionsOf(text)).toStrictEqual(code.map((each) => ['code', each]));
  });

  test.each([
    ['a backtick that is never closed', 'don`t'],
    ['a backtick that is closed in another paragraph', 'a `b\n\nc` d'],
    ['a backtick that is closed after a line of blanks', 'a `b\n \t\r\nc` d'],
    ['backticks closed by fewer', '``a`'],
    ['a fence that is never closed', '```xml\na\n'],
    ['a fence closed by a shorter one', '````\na\n```\n'],
    ['a fence closed by the other mark', '```\na\n~~~\n'],
    ['a fence of tildes closed by one with text', '~~~\na\n~~~ b'],
    ['two tildes', '~~\na\n~~'],
  ])('is not opened by %s', (_, text) => {
    expect(regionsOf(text)).toStrictEqual([]);
  });
});

describe('a comment', () => {
  test.each([
    ['to the first end', '<!-- a --> b -->', '<!-- a -->'],
    ['over lines', '<!--\na\n\n-->', '<!--\na\n\n-->'],
    ['over code', '<!-- `a --> b`', '<!-- `a -->'],
    ['over nothing', '<!---->', '<!---->'],
    ['over nothing, in short, as in HTML', '<!--> a -->', '<!-->'],
  ])('extends %s', (_, text, comment) => {
    expect(regionsOf(text)).toStrictEqual([['comment', comment]]);
  });

  test.each(['<!-- a', '<!-- a --', '--> <!--', '<! -- a -->'])('is not %s', (text) => {
    expect(regionsOf(text)).toStrictEqual([]);
  });

  test('is found outside code and inside it, but not from one piece of code to the next', () => {
    const text = '<!--1--> `<!--2-->`\n```\n<!--3--> x <!--4-->\n```\n`<!--` x `-->` <!--5';
    const found = commentsOf(text, findRegions(text)).map(({ start, end }) => text.slice(start, end));
    expect(found).toStrictEqual(['<!--1-->', '<!--2-->', '<!--3-->', '<!--4-->']);
  });
});

test('the region that begins first wins', () => {
  expect(regionsOf('<!-- ` --> `a` <!-- ` -->')).toStrictEqual([
    ['comment', '<!-- ` -->'],
    ['code', '`a`'],
    ['comment', '<!-- ` -->'],
  ]);
});

test('a region is blanked without moving anything else', () => {
  const text = 'a `b\n😀` c';
  expect(blank(text, findRegions(text))).toBe('a   \n    c');
});

test('the regions of any text are ordered and disjoint, and blanking them keeps its length and lines', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const regions = findRegions(text);
      let from = 0;
      for (const { start, end } of regions) {
        expect(start).toBeGreaterThanOrEqual(from);
        expect(end).toBeGreaterThan(start);
        from = end;
      }
      expect(from).toBeLessThanOrEqual(text.length);
      const visible = blank(text, regions);
      expect(visible.length).toBe(text.length);
      expect(visible.split('\n').length).toBe(text.split('\n').length);
    }),
    { numRuns: 500 },
  );
});
