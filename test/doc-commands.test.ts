/**
 * Every command in the documentation is carried out, or at least held against the program that would take it. A fenced
 * block is of one of the kinds in test/docs/kinds.ts, or of one that another test knows (ELSEWHERE). Further words behind
 * the fence say more:
 *
 *   sh            commands. All of a page are carried out in one folder, in order; `# exits with 3` says with which code
 *   sh claude     commands that need an account: they must be such as Raymond takes
 *   sh setup      commands that set Raymond up: likewise
 *   js, ts        programs. They are compiled and run
 *   text output   what the block before it prints; `…` stands for anything
 *   bash FILE     a file that the commands of the page find in their folder; likewise markdown, yaml, toml, js, ts, …
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFolder } from './docs/folder.ts';
import { KINDS } from './docs/kinds.ts';
import { brokenLinks } from './docs/links.ts';
import { allPages, PROJECT } from './docs/pages.ts';
import { compile } from './docs/programs.ts';
import { follow, hasStory, isOutput, looksLike } from './docs/story.ts';

/** Tests that know blocks of their own kinds; `all` means that nothing of the page is left to us. */
const ELSEWHERE: Readonly<Record<string, { readonly test: string; readonly kinds: readonly string[] | 'all' }>> = {
  'docs/protocol.md': { test: 'test/docs.test.ts', kinds: 'all' },
  'docs/authoring.md': { test: 'test/docs.test.ts', kinds: 'all' },
  'docs/lint.md': { test: 'test/lint/docs.test.ts', kinds: ['markdown', 'bash', 'bat', 'findings'] },
  'docs/replay.md': { test: 'test/scenario/docs.test.ts', kinds: ['markdown', 'bash', 'yaml', 'story', 'findings'] },
};

const windows = process.platform === 'win32';
const everything = allPages();
const pages = everything.filter(({ path }) => ELSEWHERE[path]?.kinds !== 'all');

describe.each(everything)('$path', (page) => {
  test('has no link that leads nowhere', () => {
    expect(brokenLinks(page, everything)).toStrictEqual([]);
  });
});

describe.each(pages)('$path', ({ path, text, blocks }) => {
  const elsewhere = ELSEWHERE[path];
  const isKnown = (kind: string): boolean => Object.hasOwn(KINDS, kind) || (elsewhere?.kinds ?? []).includes(kind);

  test('has no block that nobody checks', () => {
    expect(blocks.filter(({ kind }) => !isKnown(kind))).toStrictEqual([]);
    expect(blocks.filter((block, at) => isOutput(block) && blocks[at - 1]?.name !== '')).toStrictEqual([]);
    // Such a block would be taken for text.
    expect(text).not.toMatch(/^[ \t>]+```/m);
  });

  const left = blocks.filter(({ kind }) => !elsewhere?.kinds.includes(kind));
  for (const block of left) {
    test.skipIf(windows)(`has a sound block on line ${block.line}`, () => KINDS[block.kind]?.(block));
  }
});

describe.skipIf(windows).concurrent('who follows a page from top to bottom (not on Windows)', () => {
  test.each(pages.filter(hasStory))('gets to the end of $path', { timeout: 120_000 }, async (page) => {
    const folder = makeFolder();
    try {
      expect(await compile(page, folder)).toBe('');
      await follow(page, folder);
    } finally {
      folder.remove();
    }
  });
});

test('what another test is said to know, that test speaks of', () => {
  for (const [path, { test: file }] of Object.entries(ELSEWHERE)) {
    expect(readFileSync(join(PROJECT, file), 'utf8')).toContain(path.replace('docs/', ''));
  }
});

test.each([
  ['a\nb\n', 'a\nb', true],
  ['a\nb\n', 'a', false],
  ['took 0.3 s\n', 'took … s', true],
  ['took 0.3 m\n', 'took … s', false],
  ['a\nb\nc\nd\n', 'a\n…\nd', true],
  ['a\nd\n', 'a\n…\nd', true],
  ['a\nb\nc\n', 'a\n…\nd', false],
])('an output %j, stated as %j: %s', (output, stated, same) => {
  expect(looksLike(output, stated)).toBe(same);
});
