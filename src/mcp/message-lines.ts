import { Readable } from 'node:stream';
import { isNestedTooDeep, MAX_JSON_DEPTH } from '../language/text/json.ts';

/** A message of a client has one line of at most so many bytes. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Passes on the lines of a client but those that are too long or nested too deep; `refuse` hears of these. */
export function readMessageLines(input: AsyncIterable<Buffer>, refuse: (why: string) => void): Readable {
  return Readable.from(permittedLines(input, refuse), { objectMode: false });
}

/** The response to such a line. Its id is unknown, because nobody has read it. */
export const refusalOf = (message: string): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message } })}\n`;

async function* permittedLines(input: AsyncIterable<Buffer>, refuse: (why: string) => void): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    let start = 0;
    while (start < chunk.length) {
      const newline = chunk.indexOf('\n', start);
      const end = newline < 0 ? chunk.length : newline + 1;
      bytes += end - start;
      if (bytes > MAX_LINE_BYTES) parts = [];
      else parts.push(chunk.subarray(start, end));
      start = end;
      if (newline < 0) continue;
      const line = Buffer.concat(parts);
      if (bytes > MAX_LINE_BYTES) refuse(`a message has more than ${MAX_LINE_BYTES / 1024 / 1024} MiB`);
      else if (isNestedTooDeep(line.toString('utf8')))
        refuse(`a message is nested more than ${MAX_JSON_DEPTH} levels deep`);
      else yield line;
      parts = [];
      bytes = 0;
    }
  }
}
