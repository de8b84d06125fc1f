import { expect, test } from 'vitest';
import { readTagsInCode } from '../../src/graph/prompt-tags.ts';
import { readTagMentions } from '../../src/language/tags/tag-mentions.ts';

const quoted = (text: string) =>
  readTagsInCode(text, readTagMentions(text).tags).map(({ tag, offset }) => [tag.body, offset]);

test.each([
  ['`<goto>A</goto>` or <goto>B</goto>', [['A', 1]]],
  ['``<goto>A</goto>`` or <goto>B</goto>', [['A', 2]]],
  ['```\n<goto>A</goto>\n```\nor <goto>B</goto>', [['A', 4]]],
  ['~~~ text\n<goto>A</goto>\n~~~~\nor <goto>B</goto>', [['A', 9]]],
  ['``` <goto>A</goto> ``` or <goto>B</goto>', [['A', 4]]],
  ['`<goto>A</goto>` or `<goto>B</goto>`', []],
  ['`<goto>A`, <goto>B</goto>', []],
  ['`<!-- <goto>A</goto> -->`, <goto>B</goto>', []],
  ['<!-- `<goto>A</goto>` -->, <goto>B</goto>', []],
  ['no tag at all', []],
])('tags in code do not count beside tags outside of it: %j', (text, found) => {
  expect(quoted(text)).toStrictEqual(found);
});
