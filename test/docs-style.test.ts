/** Pages that people read keep to short lines, short paragraphs and plain English. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { allPages, PROJECT } from './docs/pages.ts';

const LINE = 120;
const PARAGRAPH = 6;

/** Tables whose cells quote answers or list attributes, compared with the code by test/docs.test.ts. */
const WIDE_TABLES = /^\| (?:Answer|Turn|Tag) \|/;

/** What a native speaker would not write: the left column of the style guide. */
const FOREIGN =
  /\b(?:go(?:es|ing)? on|went on|taken up|takes? (?:it |them )?up again|all the same|mend(?:s|ed|ing)?|lies? beside|for ever|whoever|under way|in vain|(?:is|are) to be)\b/i;

const PAGES = [...allPages().map(({ path }) => path), 'CONTRIBUTING.md', 'CHANGELOG.md', 'plugin/README.md'];

interface Line {
  readonly number: number;
  readonly text: string;
  readonly isInWideTable: boolean;
}

/** The lines of a page outside code blocks; a code block counts as an empty line. */
function proseOf(page: string): readonly Line[] {
  let [fence, isInWideTable] = ['', false];
  return page.split('\n').map((text, at) => {
    const mark = /^\s*(`{3,})/.exec(text)?.[1] ?? '';
    const isCode = fence !== '' || mark !== '';
    if (fence === '') fence = mark;
    else if (text.trim() === fence) fence = '';
    isInWideTable = text.startsWith('|') && (isInWideTable || WIDE_TABLES.test(text));
    return { number: at + 1, text: isCode ? '' : text, isInWideTable };
  });
}

/** Paragraphs and items of lists with more lines than allowed, by their first lines. */
function longParagraphs(lines: readonly Line[]): readonly string[] {
  const paragraphs: Line[][] = [[]];
  for (const line of lines) {
    if (line.text.trim() === '' || /^\s*(?:[-*] |\d+\. |#|\|)/.test(line.text)) paragraphs.push([]);
    if (line.text.trim() !== '' && !line.text.trimStart().startsWith('|')) paragraphs.at(-1)?.push(line);
  }
  return paragraphs.filter(({ length }) => length > PARAGRAPH).map(([first]) => `${first?.number}: ${first?.text}`);
}

const withoutCode = (text: string): string => text.replace(/`[^`]*`/g, '``');

describe.each(PAGES)('%s', (path) => {
  const text = readFileSync(join(PROJECT, path), 'utf8');
  const lines = proseOf(text);

  test('has no line over 120 characters', () => {
    const long = lines.filter(({ text: line, isInWideTable }) => line.length > LINE && !isInWideTable);
    expect(long.map(({ number }) => number)).toStrictEqual([]);
  });

  test('has no paragraph over six lines', () => {
    expect(longParagraphs(lines)).toStrictEqual([]);
  });

  test('is written in plain English', () => {
    expect(lines.filter(({ text: line }) => FOREIGN.test(withoutCode(line)))).toStrictEqual([]);
  });
});

test.each(PAGES.filter((path) => path.startsWith('docs/')))('%s opens with what it is for and who needs it', (path) => {
  const [title = '', blank, opening = ''] = readFileSync(join(PROJECT, path), 'utf8').split('\n');
  expect({ title: title.slice(0, 2), blank }).toStrictEqual({ title: '# ', blank: '' });
  expect(opening).toMatch(/\bfor\b/i);
});

test.each([
  ['a\n'.repeat(7), 1],
  ['a\n'.repeat(6), 0],
  ['- a\n'.repeat(9), 0],
  [`- a\n${'  b\n'.repeat(6)}`, 1],
  [`\`\`\`text\n${'a\n'.repeat(9)}\`\`\`\n`, 0],
])('of %j, %i paragraphs are too long', (page, count) => {
  expect(longParagraphs(proseOf(page))).toHaveLength(count);
});
