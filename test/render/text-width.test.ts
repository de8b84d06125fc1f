import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { padToWidth, shorten, widthOf, wrapText, wrapWhole } from '../../src/render/text-width.ts';

const words = fc.string({
  unit: fc.constantFrom('a', 'é', 'e\u0301', '日', '👩‍👩‍👧', '🇩🇪', ' ', '/', '…'),
  maxLength: 30,
});

describe('a text is shortened', () => {
  test.each<[string, number, 'start' | 'end', string]>([
    ['short', 5, 'start', 'short'],
    ['longer text', 8, 'start', 'longer…'],
    ['src/render/terminal/live/view.ts', 12, 'end', '…ive/view.ts'],
    ['日本語', 5, 'start', '日本…'],
    ['日本語', 4, 'start', '日…'],
    ['👩‍👩‍👧👩‍👩‍👧', 3, 'start', '👩‍👩‍👧…'],
    ['e\u0301e\u0301e\u0301', 2, 'start', 'e\u0301…'],
    ['abc', 1, 'start', '…'],
    ['abc', 0, 'start', ''],
  ])('%s to %i columns, of which the %s is kept', (text, width, keep, expected) => {
    expect(shorten(text, width, keep)).toBe(expected);
  });

  test('never to more columns than available, and only if necessary', () => {
    fc.assert(
      fc.property(words, fc.nat(20), fc.constantFrom('start', 'end'), (text, width, keep) => {
        const short = shorten(text, width, keep);
        expect(widthOf(short)).toBeLessThanOrEqual(width);
        if (widthOf(text) <= width) expect(short).toBe(text);
      }),
    );
  });
});

test('a text is padded by its width, not by its length', () => {
  expect(padToWidth('日本', 6)).toBe('日本  ');
  expect(padToWidth('\u001b[1mab\u001b[22m', 4, 'left')).toBe('  \u001b[1mab\u001b[22m');
  expect(padToWidth('long', 2)).toBe('long');
});

test('a long line is broken between words and continues indented; a path is kept whole', () => {
  expect(wrapText('[main] failed: the script ended badly', 20)).toStrictEqual([
    '[main] failed: the',
    '  script ended badly',
  ]);
  expect(wrapText('run a: /some/where/very/far/away', 20)).toStrictEqual(['run a:', '  /some/where/very/far/away']);
  expect(wrapText('short', 20)).toStrictEqual(['short']);
});

test('a line that is broken at a space has none at its ends', () => {
  expect(wrapWhole('one two  three', 3)).toStrictEqual(['one', 'two', 'thr', 'ee']);
  expect(wrapWhole('  one two', 5)).toStrictEqual(['  one', 'two']);
});
