import { isUtf8 } from 'node:buffer';
import type { TextPosition } from '../language/text/text-position.ts';

/** The text of a file, or the reason and the position at which it is not text. */
export type DecodedStateText =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'not-text'; readonly at: TextPosition; readonly message: string };

/**
 * Decodes the file of a state. A byte order mark is kept, because some shells need it. A NUL is refused in a prompt,
 * where it means that the file is not text; in a script it is left to the shell.
 */
export function decodeText(bytes: Uint8Array, kind: 'prompt' | 'script'): DecodedStateText {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const byteOrderMark = buffer.subarray(0, 2).toString('hex').toUpperCase();
  if (byteOrderMark === 'FFFE' || byteOrderMark === 'FEFF') {
    const message = `this is UTF-16 text (it begins with the bytes ${byteOrderMark.slice(0, 2)} ${byteOrderMark.slice(2)}): save it as UTF-8`;
    return { kind: 'not-text', at: { line: 1, column: 1 }, message };
  }
  const text = buffer.toString('utf8');
  if (!isUtf8(buffer)) {
    const offset = findInvalidByte(buffer, text);
    const byte = buffer
      .subarray(offset, offset + 1)
      .toString('hex')
      .toUpperCase();
    const message = `this is not UTF-8 text: it has the byte 0x${byte} at offset ${offset}; save the file as UTF-8`;
    return { kind: 'not-text', at: positionAtByte(buffer, offset), message };
  }
  const nulOffset = kind === 'prompt' ? buffer.indexOf(0) : -1;
  if (nulOffset === -1) return { kind: 'text', text };
  const message = `a prompt is text, but this has a NUL byte (0x00) at offset ${nulOffset}: remove it, or save the file as UTF-8`;
  return { kind: 'not-text', at: positionAtByte(buffer, nulOffset), message };
}

/** Finds the first byte that is not UTF-8: up to the first replacement character that is not in the file, text and bytes agree. */
function findInvalidByte(bytes: Buffer, text: string): number {
  let offset = 0;
  let from = 0;
  for (let found = text.indexOf('\uFFFD'); found !== -1; found = text.indexOf('\uFFFD', from)) {
    offset += Buffer.byteLength(text.slice(from, found));
    if (bytes.subarray(offset, offset + 3).toString('hex') !== 'efbfbd') return offset;
    offset += 3;
    from = found + 1;
  }
  return offset;
}

function positionAtByte(bytes: Buffer, offset: number): TextPosition {
  const before = bytes.subarray(0, offset).toString('utf8');
  const lineStart = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: before.length - lineStart + 1 };
}
