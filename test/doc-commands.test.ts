/**
 * Runs every command in the documentation, or at least checks its arguments. A fenced block has one of the kinds in
 * test/docs/kinds.ts, or one that another test knows (CHECKED_ELSEWHERE). Further words after the kind say more:
 *
 *   sh            commands. All of a page run in one folder, in order; `# exits with 3` gives the expected exit code
 *   sh claude     commands that need an account: only their arguments are checked
 *   sh setup      commands that set Raymond up: likewise
 *   js, ts        programs that are compiled and run
 *   text output   the expected output of the block before; `…` stands for anything
 *   bash FILE     a file for the commands of the page; likewise markdown, yaml, toml, js, ts, …
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeFolder } from './docs/folder.ts';
import { KINDS } from './docs/kinds.ts';
import { brokenLinks } from './docs/links.ts';
import { allPages, PROJECT } from './docs/pages.ts';
import { compile } from './docs/programs.ts';
import { hasCommands, isOutput, matchesOutput, runPage } from './docs/run-page.ts';

/** Tests that check blocks of their own kinds; `all` means the whole page. */
const CHECKED_ELSEWHERE: Readonly<
  Record<string, { readonly test: string; readonly kinds: readonly string[] | 'all' }>
> = {
  'docs/fleet.md': { test: 'test/cluster/guide.test.ts', kinds: 'all' },
  'docs/protocol.md': { test: 'test/docs.test.ts', kinds: 'all' },
  'docs/authoring.md': { test: 'test/docs.test.ts', kinds: 'all' },
  'docs/lint.md': { test: 'test/lint/docs.test.ts', kinds: ['markdown', 'bash', 'bat', 'findings'] },
  'docs/replay.md': { test: 'test/scenario/docs.test.ts', kinds: ['markdown', 'bash', 'yaml', 'story', 'findings'] },
};

const windows = process.platform === 'win32';
const everything = allPages();
const pages = everything.filter(({ path }) => CHECKED_ELSEWHERE[path]?.kinds !== 'all');

describe.each(everything)('$path', (page) => {
  test('has no broken link', () => {
    expect(brokenLinks(page, everything)).toStrictEqual([]);
  });
});

describe.each(pages)('$path', ({ path, text, blocks }) => {
  const elsewhere = CHECKED_ELSEWHERE[path];
  const isKnown = (kind: string): boolean => Object.hasOwn(KINDS, kind) || (elsewhere?.kinds ?? []).includes(kind);

  test('has only blocks that some test checks', () => {
    expect(blocks.filter(({ kind }) => !isKnown(kind))).toStrictEqual([]);
    expect(blocks.filter((block, at) => isOutput(block) && blocks[at - 1]?.name !== '')).toStrictEqual([]);
    // An indented block would not be found.
    expect(text).not.toMatch(/^[ \t>]+```/m);
  });

  const left = blocks.filter(({ kind }) => !elsewhere?.kinds.includes(kind));
  for (const block of left) {
    test.skipIf(windows)(`has a valid block on line ${block.line}`, () => KINDS[block.kind]?.(block));
  }
});

describe.skipIf(windows).concurrent('the commands of a page, run from top to bottom (not on Windows)', () => {
  test.each(pages.filter(hasCommands))('work on $path', { timeout: 120_000 }, async (page) => {
    const folder = makeFolder();
    try {
      expect(await compile(page, folder)).toBe('');
      await runPage(page, folder);
    } finally {
      folder.remove();
    }
  });
});

test('a page that is checked elsewhere is mentioned there', () => {
  for (const [path, { test: file }] of Object.entries(CHECKED_ELSEWHERE)) {
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
])('an output %j, expected as %j: %s', (output, expected, matches) => {
  expect(matchesOutput(output, expected)).toBe(matches);
});
