import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sanitize, sanitizeLine, sanitizeLines, sanitizeStyled } from '../../src/render/sanitize.ts';
import { createColorizer } from '../../src/render/text-style.ts';
import { anyText } from '../core/builders.ts';

describe('output of models and scripts cannot control the terminal', () => {
  test.each([
    ['colors', '\u001b[31mred\u001b[0m', 'red'],
    ['a cleared screen', 'a\u001b[2J\u001b[Hb', 'ab'],
    ['a title', '\u001b]0;owned\u0007text', 'text'],
    ['a bell and a backspace', 'a\u0007\bb', 'ab'],
    ['codes of one byte', '\u009b31mred', 'red'],
    ['a line that overwrites itself', '10%\r20%\r\ndone', '10%\n20%\ndone'],
    ['the other direction of writing', 'safe\u202egnp.exe', 'safegnp.exe'],
    ['half a character', 'a\ud83db', 'ab'],
    ['plain text, lines and tabs', 'a\tb\nc é 日本 👩‍👩‍👧', 'a\tb\nc é 日本 👩‍👩‍👧'],
  ])('%s', (_, text, expected) => expect(sanitize(text)).toBe(expected));

  test('for any text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(anyText, fc.constantFrom('\u001b', '[', ']', '\u009b', '2J', '\u0007'))),
        (parts) => {
          expect(sanitize(parts.join(''))).not.toMatch(/(?![\t\n])\p{Cc}/u);
        },
      ),
    );
  });
});

test('a text is put on one line, or split into its nonempty lines', () => {
  expect(sanitizeLine(' a\n\n\tb\u001b[1m c ')).toBe('a b c');
  expect(sanitizeLines('a  \n\n\tb\n')).toStrictEqual(['a', '    b']);
});

test('styles of our own are kept where they are wanted, and nothing else', () => {
  const colorize = createColorizer(true);
  const text = `${colorize('bold', 'a')}\u001b[5mb\u001b]0;c\u0007${colorize('red', '\u009b2Jd')}`;
  expect(sanitizeStyled(text)).toBe(`${colorize('bold', 'a')}b${colorize('red', 'd')}`);
});
