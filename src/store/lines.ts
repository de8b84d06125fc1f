import { open } from 'node:fs/promises';
import { withFile } from './files.ts';

/** A line of a file and where it lies. One that is not `ended` has no line feed: it is still being written, or torn. */
export interface JournalLine {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly ended: boolean;
}

const CHUNK_BYTES = 1 << 18;
const LINE_FEED = 0x0a;

/** Reads the lines of a file from a byte on, as many at a time as come with one read. */
export async function* readJournalLines(file: string, from: number): AsyncGenerator<readonly JournalLine[]> {
  const handle = await open(file, 'r');
  try {
    let rest: Buffer[] = [];
    let start = from;
    for (let position = from; ; ) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, position);
      if (bytesRead === 0) break;
      position += bytesRead;
      const lines: JournalLine[] = [];
      const chunk = buffer.subarray(0, bytesRead);
      let consumed = 0;
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, consumed)) {
        const head = chunk.subarray(consumed, at);
        const text = (rest.length === 0 ? head : Buffer.concat([...rest, head])).toString();
        rest = [];
        consumed = at + 1;
        const end = position - bytesRead + consumed;
        lines.push({ text, start, end, ended: true });
        start = end;
      }
      if (consumed < bytesRead) rest.push(chunk.subarray(consumed));
      yield lines;
    }
    if (rest.length === 0) return;
    const tail = Buffer.concat(rest);
    yield [{ text: tail.toString(), start, end: start + tail.length, ended: false }];
  } finally {
    await handle.close();
  }
}

/** The number, from 1, of the line that begins at a byte. */
export async function lineNumberAt(file: string, offset: number): Promise<number> {
  let number = 1;
  for await (const lines of readJournalLines(file, 0)) {
    for (const { end, ended } of lines) if (ended && end <= offset) number++;
  }
  return number;
}

/** Whether a line begins at this byte of a file. */
export async function isLineStart(file: string, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  return withFile(file, 'r', async (handle) => {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(1), 0, 1, offset - 1);
    return bytesRead === 1 && buffer[0] === LINE_FEED;
  });
}
