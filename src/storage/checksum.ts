import { crc32 } from 'node:zlib';

/*
 * A disk may give back other bytes than it was given. Journal lines and state files end in a checksum of all the text before
 * it, so that a flipped bit is found instead of believed. Both are written by one program, so it is the text that is checked,
 * not its meaning.
 */

/** The verdict of a text's checksum. */
export type ChecksumState = 'right' | 'wrong' | 'none';

const LINE_CHECKSUM = /^,"sum":"([0-9a-f]{8})"\}$/;
const LINE_CHECKSUM_BYTES = ',"sum":"00000000"}'.length;

/** Adds the checksum to a line of the journal: the text of a JSON object. */
export function addLineChecksum(json: string): string {
  const body = json.slice(0, -1);
  return `${body},"sum":"${checksumOf(body)}"}`;
}

/** Checks a line of the journal, without its line feed. */
export function checkLine(line: Buffer): ChecksumState {
  const end = line.length - LINE_CHECKSUM_BYTES;
  const found = end < 0 ? null : LINE_CHECKSUM.exec(line.toString('latin1', end));
  if (found === null) return 'none';
  return checksumOf(line.subarray(0, end)) === found[1] ? 'right' : 'wrong';
}

const STATE_CHECKSUM = /,\n {2}"checksum": "([0-9a-f]{8})"\n\}\n$/;
const STATE_CHECKSUM_LENGTH = ',\n  "checksum": "00000000"\n}\n'.length;

/** Adds the checksum to a state file: the text of a JSON object, indented by two, without a line feed at its end. */
export function addStateChecksum(json: string): string {
  const body = json.slice(0, -'\n}'.length);
  return `${body},\n  "checksum": "${checksumOf(body)}"\n}\n`;
}

/** Checks a state file. */
export function checkState(text: string): ChecksumState {
  const found = STATE_CHECKSUM.exec(text.slice(-STATE_CHECKSUM_LENGTH));
  if (found === null) return 'none';
  return checksumOf(text.slice(0, -STATE_CHECKSUM_LENGTH)) === found[1] ? 'right' : 'wrong';
}

/** CRC-32 as eight hex digits: it finds every flipped bit, and every group of them that is shorter than itself. */
const checksumOf = (data: string | Buffer): string => crc32(data).toString(16).padStart(8, '0');
