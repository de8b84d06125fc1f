import { type FileHandle, open, stat } from 'node:fs/promises';
import { errorCodeOf } from '../errors.ts';
import { undefinedIfMissing } from './turn-files.ts';
import { watchFile } from './watch.ts';

/** How long to follow a file. */
export interface FollowOptions {
  /** When it settles, what is in the file by then is still delivered. */
  readonly until: Promise<unknown>;
  /** The byte to begin at. */
  readonly from?: number;
}

/** Of a longer line no more than this is kept: there is a limit to what fits into memory, and another to the length of a string. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

const MAX_CHUNK_BYTES = 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;
const BACKWARDS_CHUNK_BYTES = 64 * 1024;
const POLL_MS = 500;

/** Delivers each line of a growing file as it comes, as bytes and without its newline. */
export async function followLines(file: string, onLine: (line: Buffer) => void, options: FollowOptions): Promise<void> {
  const splitter = newLineSplitter(MAX_LINE_BYTES);
  let upTo = options.from ?? 0;
  for await (const { offset, bytes } of followChunks(file, options)) {
    if (offset < upTo) splitter.rest().forEach(onLine);
    upTo = offset + bytes.length;
    for (const line of splitter.push(bytes)) onLine(line);
  }
  splitter.rest().forEach(onLine);
}

/** Bytes of a file, and the number of those before them. */
export interface FileChunk {
  readonly offset: number;
  readonly bytes: Buffer;
}

/**
 * Reads what is written to a growing file as it comes. The file may appear late. A command that opens `/dev/stdout`
 * again empties the file on Linux; then reading begins again at its start, with an empty chunk.
 */
export async function* followChunks(
  file: string,
  { until, from = 0 }: FollowOptions,
): AsyncGenerator<FileChunk, void, undefined> {
  const watch = watchFile(file, POLL_MS);
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    watch.wake();
  };
  until.then(stop, stop);
  let handle: FileHandle | undefined;
  let offset = from;
  try {
    for (;;) {
      // Read before the file: all that was written before the end is then in the file.
      const last = stopped;
      handle ??= await undefinedIfMissing(open(file, 'r'));
      // One size per round, or a process that never stops writing would keep us here.
      const size = handle === undefined ? 0 : (await handle.stat()).size;
      if (size < offset) {
        offset = 0;
        yield { offset, bytes: Buffer.alloc(0) };
      }
      while (handle !== undefined && offset < size) {
        const bytes = await readAt(handle, offset, size - offset);
        if (bytes.length === 0) break;
        yield { offset, bytes };
        offset += bytes.length;
      }
      if (last) return;
      await watch.next();
    }
  } finally {
    watch.close();
    await handle?.close();
  }
}

/** Cuts chunks into lines. What comes before a gap, or before a file was emptied, ends a line. */
export async function* splitChunks(
  chunks: AsyncIterable<FileChunk>,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<Buffer, void, undefined> {
  const splitter = newLineSplitter(maxLineBytes);
  let upTo = 0;
  for await (const { offset, bytes } of chunks) {
    if (offset !== upTo) yield* splitter.rest();
    upTo = offset + bytes.length;
    yield* splitter.push(bytes);
  }
  yield* splitter.rest();
}

/**
 * Reads the lines of a finished file, as bytes; holds no more of it than a chunk and one line. None if it is missing.
 */
export async function* readLines(file: string, maxLineBytes = MAX_LINE_BYTES): AsyncGenerator<Buffer, void, undefined> {
  const splitter = newLineSplitter(maxLineBytes);
  try {
    for await (const chunk of readChunks(file)) yield* splitter.push(chunk);
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
  }
  yield* splitter.rest();
}

/** Reads a file from a byte on, in chunks. */
export async function* readChunks(file: string, from = 0): AsyncGenerator<Buffer, void, undefined> {
  const handle = await open(file, 'r');
  try {
    for (let offset = from; ; ) {
      const bytes = await readAt(handle, offset, CHUNK_BYTES);
      if (bytes.length === 0) return;
      offset += bytes.length;
      yield bytes;
    }
  } finally {
    await handle.close();
  }
}

/** Reads the lines of a file up to a byte, by default its end, the last one first, in chunks: it may be very long. */
export async function* readLinesBackwards(file: string, upTo?: number): AsyncGenerator<Buffer, void, undefined> {
  const handle = await open(file, 'r');
  try {
    let end = upTo ?? (await handle.stat()).size;
    let pieces: Buffer[] = [];
    while (end > 0) {
      const length = Math.min(BACKWARDS_CHUNK_BYTES, end);
      end -= length;
      let rest = await readAt(handle, end, length);
      for (let at = rest.lastIndexOf(NEWLINE); at >= 0; at = rest.lastIndexOf(NEWLINE)) {
        yield Buffer.concat([rest.subarray(at + 1), ...pieces]);
        pieces = [];
        rest = rest.subarray(0, at);
      }
      pieces.unshift(rest);
    }
    yield Buffer.concat(pieces);
  } finally {
    await handle.close();
  }
}

/**
 * Reads the end of a file as text for a message: at most so many lines and bytes (never more than 1 MiB); `…` marks a
 * cut.
 */
export async function lastLines(file: string, maxLines: number, maxBytes: number): Promise<string> {
  const handle = await undefinedIfMissing(open(file, 'r'));
  if (handle === undefined) return '';
  try {
    const { size } = await handle.stat();
    const from = Math.max(0, size - Math.min(maxBytes, MAX_CHUNK_BYTES));
    let bytes = await readAt(handle, from, size - from);
    // A cut may fall into a character; its remaining bytes all look like 10xxxxxx.
    while (from > 0 && bytes.length > 0 && ((bytes[0] ?? 0) & 0xc0) === 0x80) bytes = bytes.subarray(1);
    const text = bytes.toString('utf8').trimEnd();
    const lines = (from > 0 ? `…${text}` : text).split(/\r?\n/);
    return lines.slice(-maxLines).join('\n');
  } finally {
    await handle.close();
  }
}

/** The time of the last write to any of these files, in milliseconds since 1970; 0 if there is none of them. */
export async function lastWriteTimeMs(files: readonly string[]): Promise<number> {
  const stats = await Promise.all(files.map((file) => undefinedIfMissing(stat(file))));
  return Math.max(0, ...stats.map((each) => each?.mtimeMs ?? 0));
}

/** Uses a new buffer each time, because the lines that callers keep are views into it. */
async function readAt(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.min(length, MAX_CHUNK_BYTES));
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, offset);
  return buffer.subarray(0, bytesRead);
}

/** Cuts bytes into lines. */
export interface LineSplitter {
  /** The lines that these bytes complete, without their newlines. */
  readonly push: (bytes: Buffer) => readonly Buffer[];
  /** The last line, if it had no newline. */
  readonly rest: () => readonly Buffer[];
}

const NEWLINE = 0x0a;

/**
 * Creates a splitter for one file. It looks at each byte once and joins a long line once, however many pieces it has. Of
 * a line longer than `maxBytes` only the beginning is kept.
 */
export function newLineSplitter(maxBytes = Number.POSITIVE_INFINITY): LineSplitter {
  let pieces: Buffer[] = [];
  let size = 0;
  const keep = (piece: Buffer): void => {
    if (size < maxBytes) pieces.push(piece.subarray(0, maxBytes - size));
    size += piece.length;
  };
  const join = (last: Buffer): Buffer => {
    keep(last);
    const [only = last, ...others] = pieces;
    const line = others.length === 0 ? only : Buffer.concat(pieces);
    pieces = [];
    size = 0;
    return line;
  };
  return {
    push: (bytes) => {
      const lines: Buffer[] = [];
      let from = 0;
      for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
        lines.push(join(bytes.subarray(from, at)));
        from = at + 1;
      }
      if (from < bytes.length) keep(bytes.subarray(from));
      return lines;
    },
    rest: () => (pieces.length === 0 ? [] : [join(Buffer.alloc(0))]),
  };
}
