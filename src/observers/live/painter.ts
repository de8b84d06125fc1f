import { widthOf } from '../fit.ts';
import type { Clock, Screen, Size } from './screen.ts';

/** What is to be seen at this moment. */
export interface Picture {
  readonly lines: readonly string[];
  readonly title: string;
}

const ESC = '\u001b';
const [BEGIN_FRAME, END_FRAME] = [`${ESC}[?2026h`, `${ESC}[?2026l`];
const [SAVE_CURSOR, RESTORE_CURSOR] = [`${ESC}7`, `${ESC}8`];
const [SAVE_TITLE, RESTORE_TITLE] = [`${ESC}[22;2t`, `${ESC}[23;2t`];
const [CLEAR_LINE, CLEAR_BELOW] = [`${ESC}[K`, `${ESC}[J`];
/** The rows that are kept free below the block. */
const BELOW = 2;
const SOON_MS = 80;
const TICK_MS = 1_000;

/** A picture on a screen that was so large. */
interface Shown extends Picture {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Keeps a block of lines at the bottom of a terminal and lets finished lines scroll away above it. Each frame is one
 * write that paints over the last, so that nothing flickers. Between frames the cursor rests on the row below the block,
 * where whoever comes after us may write, and one more row is free below it: what the user types meanwhile, a line feed
 * included, moves nothing and is gone with the next frame.
 */
export class Painter {
  private readonly screen: Screen;
  private readonly clock: Clock;
  private readonly draw: (now: number, size: Size) => Picture;
  private readonly stopListening: readonly (() => void)[];
  private cancelSoon: (() => void) | undefined;
  private finished: string[] = [];
  /** What is on the screen now; undefined as long as the screen is as we found it. */
  private shown: Shown | undefined;
  private closed = false;

  constructor(screen: Screen, clock: Clock, draw: (now: number, size: Size) => Picture) {
    this.screen = screen;
    this.clock = clock;
    this.draw = draw;
    this.stopListening = [
      clock.every(TICK_MS, () => this.paint()),
      screen.onResize(() => this.paint()),
      screen.onLeave(
        () => this.leave(),
        () => this.paint(),
      ),
    ];
  }

  /** Lets a finished line scroll away above the block. */
  print(line: string): void {
    this.finished.push(line);
    this.touch();
  }

  /** Something has changed: a new frame is due. Many changes make one frame. */
  touch(): void {
    if (this.closed) return;
    this.cancelSoon ??= this.clock.after(SOON_MS, () => this.paint());
  }

  /** Takes the block away and gives the terminal back as it was. */
  close(): void {
    if (this.closed) return;
    this.stop();
    const ending = this.shown === undefined ? '' : RESTORE_TITLE;
    this.write(`${this.wipe()}${this.takeFinished()}${ending}`);
    this.shown = undefined;
  }

  private paint(): void {
    this.cancelSoon?.();
    this.cancelSoon = undefined;
    if (this.closed) return;
    const { columns, rows } = this.screen.size();
    const room = { columns, rows: Math.max(1, rows - BELOW), colour: this.screen.colour };
    const picture = this.draw(this.clock.now(), room);
    if (this.isShown(picture, columns)) return;
    const title = picture.title === (this.shown?.title ?? '') ? '' : `${ESC}]2;${picture.title}\u0007`;
    const opening = this.shown === undefined ? SAVE_TITLE : '';
    const way = this.finished.length > 0 ? this.wipe() : this.toTop();
    const start = `${opening}${title}${way}${this.takeFinished()}`;
    const block = picture.lines.join(`${CLEAR_LINE}\r\n`);
    const below = picture.lines.length === 0 ? '' : `\r\n\n${ESC}[A`;
    this.write(`${BEGIN_FRAME}${start}${block}${CLEAR_BELOW}${below}${SAVE_CURSOR}${END_FRAME}`);
    this.shown = { ...picture, columns, rows };
  }

  /** The process ends, or sleeps, and somebody else writes from here on: the block is left standing. */
  private leave(): void {
    if (this.closed || this.shown === undefined) return;
    this.write(`${this.toCursor()}${this.takeFinished()}${RESTORE_TITLE}`);
    this.shown = undefined;
  }

  private isShown({ lines, title }: Picture, columns: number): boolean {
    const { shown, finished } = this;
    if (finished.length > 0) return false;
    if (shown === undefined) return lines.length === 0;
    const same = lines.length === shown.lines.length && lines.every((line, index) => line === shown.lines[index]);
    return same && title === shown.title && columns === shown.columns;
  }

  /** Back to where the block begins. */
  private toTop(): string {
    const above = this.rowsOf(this.shown?.lines ?? []);
    return above === 0 ? this.toCursor() : `${this.toCursor()}${ESC}[${above}A`;
  }

  /** Back to where we left the cursor; in a window of another size only the terminal knows where that is. */
  private toCursor(): string {
    const { columns, rows } = this.screen.size();
    const isSame = this.shown?.columns === columns && this.shown.rows === rows;
    return isSame ? `${RESTORE_CURSOR}\r` : '\r';
  }

  /** The block taken away, row by row: tmux keeps in its history what is cleared all at once. */
  private wipe(): string {
    if (this.shown === undefined) return '';
    if (this.shown.lines.length === 0) return this.toCursor();
    const rows = this.rowsOf(this.shown.lines) + BELOW;
    return `${this.toTop()}${Array(rows).fill(CLEAR_LINE).join(`${ESC}[B`)}${ESC}[${rows - 1}A`;
  }

  /** How many rows lines take up now: a window that has become narrower has broken them in two. */
  private rowsOf(lines: readonly string[]): number {
    const { columns } = this.screen.size();
    return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  }

  private takeFinished(): string {
    const lines = this.finished.map((line) => `${line}\r\n`).join('');
    this.finished = [];
    return lines;
  }

  private write(text: string): void {
    if (text !== '') this.screen.write(text);
  }

  private stop(): void {
    this.closed = true;
    this.cancelSoon?.();
    for (const stop of this.stopListening) stop();
  }
}
