import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { errorCodeOf } from '../errors.ts';
import type { Terminal } from '../render/terminal/terminal.ts';
import { usageError } from './command.ts';

/**
 * Reads the value of `--input`: a text, `@FILE` for the text of a file, `-` for that of stdin. `@@` is an @ at the
 * beginning of a text. What is read loses the line breaks at its end, as in `$(cat FILE)`.
 */
export async function readInputText(written: string, { cwd, readStdin }: Terminal): Promise<string> {
  if (written === '-') return decodeInput((await readStdin?.()) ?? new Uint8Array(), 'stdin');
  if (written.startsWith('@@')) return written.slice(1);
  if (!written.startsWith('@')) return written;
  const file = written.slice(1);
  return decodeInput(readInputFile(file, cwd), file);
}

function readInputFile(file: string, cwd: string): Uint8Array {
  try {
    return readFileSync(resolve(cwd, file));
  } catch (error) {
    throw usageError(
      `--input @${file}: the file cannot be read (${errorCodeOf(error)})`,
      'Name a file that exists. For a text that begins with @, write @@.',
    );
  }
}

function decodeInput(bytes: Uint8Array, source: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!text.includes('\0')) return text.replace(/[\r\n]+$/, '');
  } catch {}
  throw usageError(`--input: ${source} is not text in UTF-8`, 'Convert it, or let the workflow read the file itself.');
}
