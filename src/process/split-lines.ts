/** Cuts bytes into lines. */
export interface LineSplitter {
  /** The lines that these bytes complete, without their newlines. */
  readonly push: (bytes: Buffer) => readonly Buffer[];
  /** The last line, if it had no newline. */
  readonly rest: () => readonly Buffer[];
}

const NEWLINE = 0x0a;

/** A splitter for one file. It looks at each byte once and joins a long line once, however many pieces it came in. */
export function newLineSplitter(): LineSplitter {
  let pieces: Buffer[] = [];
  const join = (last: Buffer): Buffer => {
    if (pieces.length === 0) return last;
    const line = Buffer.concat([...pieces, last]);
    pieces = [];
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
      if (from < bytes.length) pieces.push(bytes.subarray(from));
      return lines;
    },
    rest: () => (pieces.length === 0 ? [] : [join(Buffer.alloc(0))]),
  };
}
