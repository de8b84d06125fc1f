import { type Zippable, zipSync } from 'fflate';
import type { FileContent } from './workflow-files.ts';

const UNIX = 3;
const REGULAR_FILE = 0o100000;

/** The same for all files, so that one workflow always makes the same zip. It is the first time that a zip can state. */
const MODIFIED = new Date(1980, 0, 1);

/** Makes a zip of the files of a workflow, with what can be run as a program. */
export function writeZip(files: ReadonlyMap<string, FileContent>): Uint8Array {
  const entries = Array.from(files, ([name, { bytes, executable }]): [string, Zippable[string]] => {
    const mode = REGULAR_FILE | (executable ? 0o755 : 0o644);
    return [name, [bytes, { os: UNIX, attrs: (mode << 16) >>> 0, mtime: MODIFIED }]];
  });
  return zipSync(Object.fromEntries(entries));
}
