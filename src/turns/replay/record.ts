import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { turnFiles } from '../../process/turn-files.ts';
import type { ClaudeEvent } from '../claude/event.ts';
import { readEvent } from '../claude/events.ts';
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

  /** Begins anew: what an earlier life printed is said again. */
  constructor(dir: string, tell: ((event: ClaudeEvent) => void) | undefined) {
    this.file = turnFiles(dir).stdout;
    this.tell = tell;
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    writeFileSync(this.file, '', { mode: 0o600 });
  }

  /** Prints lines, all of them at once. */
  print(...lines: readonly Line[]): void {
    const printed = lines.map((line) => JSON.stringify(line));
    appendFileSync(this.file, printed.map((line) => `${line}\n`).join(''));
    for (const line of printed) {
      const event = readEvent(line);
      this.transcript = hear(this.transcript, event);
      this.tell?.(event);
    }
  }
}
