import { describe, expect, test } from 'vitest';
import { sanitize, sanitizeLine, sanitizeLines } from '../../src/render/sanitize.ts';
import { shorten, widthOf, wrapText } from '../../src/render/text-width.ts';
import { TurnRenderer } from '../../src/render/turn-renderer.ts';
import { FAR_BELOW_QUADRATIC, growthBetween } from '../core/growth.ts';

const LONG = 2 ** 14;

const PIECES = {
  'one word': 'a',
  'letters of two kinds': 'aé',
  'combining marks': '\u0301',
  'blanks between letters': `${' '.repeat(200)}x`,
  'carriage returns': `${'\r'.repeat(200)}x`,
  'control sequences that never end': '\u001b]a\u001b[;',
  'half characters': '\ud83d',
};

const WORKS: Readonly<Record<string, (text: string) => unknown>> = {
  measured: widthOf,
  'shortened from its end': (text) => shorten(text, 80),
  'shortened from its start': (text) => shorten(text, 80, 'end'),
  wrapped: (text) => wrapText(text, 80),
  sanitized: (text) => [sanitize(text), sanitizeLine(text), sanitizeLines(text)],
  'shown as a line of output': (text) => new TurnRenderer().render({ kind: 'prints', text }),
};

describe.each(Object.entries(PIECES))('a long text of %s', (_, piece) => {
  const textOf = (length: number): string => piece.repeat(Math.ceil(length / piece.length));

  test.each(Object.entries(WORKS))('is %s in linear time', (__, work) => {
    expect(growthBetween(work, textOf(LONG / 8), textOf(LONG))).toBeLessThan(FAR_BELOW_QUADRATIC);
  });
});
