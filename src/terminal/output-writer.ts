import type { Writable } from 'node:stream';
import { errorCodeOf } from '../errors.ts';

/** Writes text without waiting for it and without ever throwing. */
export interface OutputWriter {
  readonly write: (text: string) => void;
  /** The code of the first write error, returned once; null if there was none, or if only the reader is gone. */
  readonly takeWriteError: () => string | null;
}

/** The errors of a pipe or a terminal that was closed by its reader. */
const READER_GONE_CODES: ReadonlySet<string> = new Set(['EPIPE', 'EIO']);

/** Creates a writer for a stream. Versions of Node differ in which errors are thrown and which are emitted later. */
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
