import type { Writable } from 'node:stream';
import { codeOf } from '../errors.ts';

/** Where text is written that nobody waits for: that it cannot be written stops nothing. */
export interface Outlet {
  readonly write: (text: string) => void;
  /** The system's name for what went wrong first, given once; null if all is well, or if only the reader has left. */
  readonly takeFault: () => string | null;
}

/** Whoever read what we print may have left, and the terminal with him. */
const LEFT: ReadonlySet<string> = new Set(['EPIPE', 'EIO']);

/** An outlet into a stream. Where it fails at once and where it fails later differs from Node to Node. */
export function outletInto(stream: Writable): Outlet {
  let fault: string | null = null;
  const note = (error: unknown): void => {
    const code = codeOf(error) || 'an unknown error';
    if (!LEFT.has(code)) fault ??= code;
  };
  stream.on('error', note);
  return {
    write(text) {
      try {
        stream.write(text);
      } catch (error) {
        note(error);
      }
    },
    takeFault() {
      const first = fault;
      fault = null;
      return first;
    },
  };
}
