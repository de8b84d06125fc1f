import { appendFileSync, writeFileSync } from 'node:fs';
import { turnFiles } from '../../process/turn-files.ts';
import type { ClaudeEvent } from '../claude/event.ts';
import { parseClaudeEvent } from '../claude/parse-event.ts';
import { addClaudeEvent, EMPTY_TRANSCRIPT, type Transcript } from '../claude/transcript.ts';
import type { StreamLine } from './stream-lines.ts';

/**
 * What a canned turn prints. It goes to the turn's folder and is listened to as if Claude Code had printed it: what
 * becomes of the turn is judged by the same code.
 */
export class ReplayOutput {
  transcript: Transcript = EMPTY_TRANSCRIPT;
  private readonly file: string;
  private readonly onEvent: ((event: ClaudeEvent) => void) | undefined;
  private pending = '';
  private write: typeof appendFileSync = writeFileSync;

  constructor(dir: string, onEvent: ((event: ClaudeEvent) => void) | undefined) {
    this.file = turnFiles(dir).stdout;
    this.onEvent = onEvent;
  }

  print(...lines: readonly StreamLine[]): void {
    for (const line of lines) {
      const printed = JSON.stringify(line);
      this.pending += `${printed}\n`;
      const event = parseClaudeEvent(line, printed);
      this.transcript = addClaudeEvent(this.transcript, event);
      this.onEvent?.(event);
    }
  }

  /**
   * Puts what was printed into the file: before time passes, and at the end, for a call costs more than all lines. What
   * an earlier life has left there is overwritten.
   */
  flush(): void {
    if (this.pending === '') return;
    this.write(this.file, this.pending, { mode: 0o600, encoding: 'utf8' });
    this.write = appendFileSync;
    this.pending = '';
  }
}
