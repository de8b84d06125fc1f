import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readTags } from '../../src/language/tags/tag.ts';
import { hasUnknownPart, readTagMentions, stripTags, UNKNOWN } from '../../src/language/tags/tag-mentions.ts';
import { TAG_NAMES } from '../../src/language/transitions/index.ts';
import { anyText } from '../core/builders.ts';

const found = (text: string) =>
  readTagMentions(text).tags.map(({ tag, offset }) => [offset, tag.name, tag.body, tag.attributes]);

describe('the tags of a text', () => {
  test('are those that the interpreter reads, at their positions', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const reading = readTags(text, TAG_NAMES);
        const { tags, unclosedTags: halves } = readTagMentions(text);
        if (reading.kind === 'tags') expect([tags.map(({ tag }) => tag), halves]).toStrictEqual([reading.tags, []]);
        for (const { name, offset } of [...tags, ...halves]) {
          expect(text.slice(offset, offset + name.length + 1).toLowerCase()).toBe(`<${name}`);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    [
      '<goto>A</goto> and <goto>B</goto>',
      [
        [0, 'goto', 'A', {}],
        [19, 'goto', 'B', {}],
      ],
    ],
    ['`<goto>A</goto>` and <goto>B</goto>', [[21, 'goto', 'B', {}]]],
    ['only `<goto>A</goto>`', [[6, 'goto', 'A', {}]]],
    ['<!-- <goto>A</goto> --> <result/>', [[24, 'result', '', {}]]],
    [
      '<result>x <goto>A</goto> <result/></result><goto>B</goto>',
      [
        [0, 'result', 'x <goto>A</goto> <result/>', {}],
        [43, 'goto', 'B', {}],
      ],
    ],
    ['<CALL\n return = "B">A</Call >', [[0, 'call', 'A', { return: 'B' }]]],
    ['a <goto> or so: <goto>A</goto>', [[16, 'goto', 'A', {}]]],
    ['<goto>A</goto> or <goto>B', [[0, 'goto', 'A', {}]]],
    ['<goto input="<call>">A</goto>', [[0, 'goto', 'A', { input: '<call>' }]]],
  ])('%s', (text, tags) => {
    expect(found(text)).toStrictEqual(tags);
  });

  test('are returned separately if they are not closed, with the name that follows', () => {
    const text = 'If so <goto>A.md, else\n<fork next="N">W\nor say <result> and why. <goto>B</goto>';
    expect(readTagMentions(text).unclosedTags).toStrictEqual([
      { name: 'goto', offset: 6, after: 'A.md' },
      { name: 'fork', offset: 23, after: 'W' },
      { name: 'result', offset: 47, after: 'and' },
    ]);
    expect(found(text)).toStrictEqual([[65, 'goto', 'B', {}]]);
  });
});

test('a text without its tags keeps what stands around them, and the tags of one kind on request', () => {
  const text = 'a <goto>A</goto> b <RESULT x="1">r</RESULT> c <b>d</b> <goto>';
  expect(stripTags(text)).toBe('a   b   c <b>d</b> <goto>');
  expect(stripTags(text, 'result')).toBe('a   b <RESULT x="1">r</RESULT> c <b>d</b> <goto>');
});

test('a name has an unknown part where a run fills something in', () => {
  expect(['A', `A${UNKNOWN}`, '{{state}}', '{state}'].map(hasUnknownPart)).toStrictEqual([false, true, true, false]);
});
