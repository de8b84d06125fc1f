import type { Writable } from 'node:stream';
import { errorCodeOf } from '../errors.ts';

/** Where text is written that nobody waits for: that it cannot be written stops nothing. */
export interface OutputWriter {
  readonly write: (text: string) => void;
  /** The system's name for what went wrong first, given once; null if all is well, or if only the reader has left. */
  readonly takeWriteError: () => string | null;
}

/** Whoever read what we print may have left, and the terminal with him. */
const READER_GONE_CODES: ReadonlySet<string> = new Set(['EPIPE', 'EIO']);

/** An outlet into a stream. Where it fails at once and where it fails later differs from Node to Node. */
export function createOutputWriter(stream: Writable): OutputWriter {
  let firstError: string | null = null;
  const rememberError = (error: unknown): void => {
    const code = errorCodeOf(error) || 'an unknown error';
    if (!READER_GONE_CODES.has(code)) firstError ??= code;
  };
  stream.on('error', rememberError);
  return {
    write(text) {
      try {
        stream.write(text);
      } catch (error) {
        rememberError(error);
      }
    },
    takeWriteError() {
      const taken = firstError;
      firstError = null;
      return taken;
    },
  };
}
