import type { Terminal } from '../render/terminal/terminal.ts';
import { usageError } from './command.ts';

/** A text that is written on the command line; `-` stands for stdin. */
export const readTextArgument = async (written: string, terminal: Terminal, hint?: string): Promise<string> =>
  written === '-' ? decodeInputText((await terminal.readStdin?.()) ?? new Uint8Array(), 'stdin', hint) : written;

/** The text of a file or of stdin, without the line breaks at its end. */
export function decodeInputText(bytes: Uint8Array, source: string, hint = 'Convert it.'): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/[\r\n]+$/, '');
  } catch {
    throw usageError(`${source} is not text in UTF-8`, hint);
  }
}
