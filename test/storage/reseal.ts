import { addLineChecksum } from '../../src/storage/run-file.ts';

/** A line of a journal that was changed on purpose, with the checksum that belongs to it now. */
export function resealLine(line: string): string {
  const { sum: _, ...rest } = JSON.parse(line);
  return addLineChecksum(JSON.stringify(rest));
}
