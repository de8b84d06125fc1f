import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeText } from '../../src/workflow/workflow-files.ts';

const bytes = (...parts: (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from([...part]))));

test('UTF-8 is read unchanged, including a byte order mark', () => {
  expect(decodeText(bytes([0xef, 0xbb, 0xbf], 'é€😀\uFFFD\r\n'), 'script')).toStrictEqual({
    kind: 'text',
    text: '\uFEFFé€😀\uFFFD\r\n',
  });
});

test.each([
  ['a latin-1 letter', bytes('ab\n', 'c', [0xe9], 'd'), 2, 2, '0xE9 at offset 4'],
  ['the first byte', bytes([0x80]), 1, 1, '0x80 at offset 0'],
  ['a character cut off at the end', bytes('€ ', [0xe2, 0x82]), 1, 3, '0xE2 at offset 4'],
  ['a byte after a real replacement character', bytes('\uFFFD\n\uFFFD', [0xff]), 2, 2, '0xFF at offset 7'],
  ['half of a replacement character', bytes('\uFFFD', [0xef, 0xbf], 'x'), 1, 2, '0xEF at offset 3'],
  ['a surrogate', bytes('a', [0xed, 0xa0, 0x80]), 1, 2, '0xED at offset 1'],
])('text that is not UTF-8 is reported with its place: %s', (_, input, line, column, what) => {
  const message = `this is not UTF-8 text: it has the byte ${what}; save the file as UTF-8`;
  expect(decodeText(input, 'prompt')).toStrictEqual({ kind: 'not-text', at: { line, column }, message });
});

test.each([
  ['FF FE', [0xff, 0xfe, 0x61, 0x00]],
  ['FE FF', [0xfe, 0xff, 0x00, 0x61]],
])('UTF-16 is recognised by its mark %s', (mark, input) => {
  expect(decodeText(bytes(input), 'prompt')).toStrictEqual({
    kind: 'not-text',
    at: { line: 1, column: 1 },
    message: `this is UTF-16 text (it begins with the bytes ${mark}): save it as UTF-8`,
  });
});

test('a NUL is refused in a prompt and accepted in a script', () => {
  expect(decodeText(bytes('a\nb\0'), 'script')).toStrictEqual({ kind: 'text', text: 'a\nb\0' });
  expect(decodeText(bytes('a\nb\0'), 'prompt')).toStrictEqual({
    kind: 'not-text',
    at: { line: 2, column: 2 },
    message: 'a prompt is text, but this has a NUL byte (0x00) at offset 3: remove it, or save the file as UTF-8',
  });
});

test('the offset is that of the first invalid byte', () => {
  const good = fc.string({ unit: 'binary' }).filter((text) => !text.startsWith('\uFEFF'));
  fc.assert(
    fc.property(good, fc.constantFrom(0x80, 0xc0, 0xf8, 0xff), fc.uint8Array(), (text, bad, rest) => {
      const before = Buffer.from(`.${text}`);
      const decoded = decodeText(Buffer.concat([before, Buffer.from([bad]), rest]), 'script');
      expect(decoded.kind === 'not-text' && decoded.message).toContain(`at offset ${before.length};`);
    }),
  );
});
