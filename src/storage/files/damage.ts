import { closeSync, openSync, readSync } from 'node:fs';
import { errorCodeOf } from '../../errors.ts';
import { newLineSplitter } from '../../process/lines.ts';
import { checkLine } from '../checksum.ts';
import { brokenLineError } from '../journal-lines.ts';
import type { JournalCoverage, RunFileProblem } from '../saved-run.ts';

/** Says that a run had to be rebuilt from its journal; nothing if its state file is whole. */
export const describeStateFileProblem = (id: string, problem: RunFileProblem | null): readonly string[] =>
  problem === null
    ? []
    : [`The state file of ${id} is ${problem}: the run is read from its journal, and a resume writes the file again.`];

/**
 * Looks for lines of a journal that are not as they were written, where the state file covers them: there nothing else
 * reads them. The run can continue without them, but its history cannot be told.
 */
export async function findJournalDamage(
  id: string,
  file: string,
  { offset, checkedFrom }: JournalCoverage,
): Promise<readonly string[]> {
  const describe = (what: string): readonly string[] => [
    `The journal of ${id} is damaged: ${what} The run itself is whole and can continue; its logs and costs are not.`,
  ];
  try {
    const broken = findBrokenLine(file, offset, checkedFrom ?? offset);
    return broken === undefined ? [] : describe((await brokenLineError(file, broken.start, broken.why)).message);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return offset === 0 ? [] : describe(`${file} is missing.`);
    throw error;
  }
}

/** Synchronous, because it checks over a gigabyte in a second, and the way through the thread pool would take longer. */
function findBrokenLine(file: string, end: number, checkedFrom: number): { start: number; why: string } | undefined {
  const descriptor = openSync(file, 'r');
  const splitter = newLineSplitter();
  try {
    let start = 0;
    for (let offset = 0; offset < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - offset));
      const length = readSync(descriptor, buffer, 0, buffer.length, offset);
      if (length === 0) break;
      offset += length;
      for (const line of splitter.push(buffer.subarray(0, length))) {
        const checksum = checkLine(line);
        if (checksum === 'wrong') return { start, why: 'its checksum does not match' };
        if (checksum === 'none' && start >= checkedFrom) return { start, why: 'its checksum is missing' };
        start += line.length + 1;
      }
    }
    return undefined;
  } finally {
    closeSync(descriptor);
  }
}

const CHUNK_BYTES = 1024 * 1024;
