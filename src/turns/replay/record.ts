import { appendFileSync, writeFileSync } from 'node:fs';
import { turnFiles } from '../../process/turn-files.ts';
import type { ClaudeEvent } from '../claude/event.ts';
import { eventOf } from '../claude/events.ts';
import { EMPTY_TRANSCRIPT, hear, type Transcript } from '../claude/transcript.ts';
import type { Line } from './lines.ts';

/**
 * What a canned turn prints. It goes to the turn's folder and is listened to as if Claude Code had printed it: what
 * becomes of the turn is judged by the same code.
 */
export class TurnRecord {
  transcript: Transcript = EMPTY_TRANSCRIPT;
  private readonly file: string;
  private readonly tell: ((event: ClaudeEvent) => void) | undefined;
  private unwritten = '';
  private write: typeof appendFileSync = writeFileSync;

  constructor(dir: string, tell: ((event: ClaudeEvent) => void) | undefined) {
    this.file = turnFiles(dir).stdout;
    this.tell = tell;
  }

  print(...lines: readonly Line[]): void {
    for (const line of lines) {
      const printed = JSON.stringify(line);
      this.unwritten += `${printed}\n`;
      const event = eventOf(line, printed);
      this.transcript = hear(this.transcript, event);
      this.tell?.(event);
    }
  }

  /**
   * Puts what was printed into the file: before time passes, and at the end, for a call costs more than all lines. What
   * an earlier life has left there is overwritten.
   */
  flush(): void {
    if (this.unwritten === '') return;
    this.write(this.file, this.unwritten, { mode: 0o600, encoding: 'utf8' });
    this.write = appendFileSync;
    this.unwritten = '';
  }
}
