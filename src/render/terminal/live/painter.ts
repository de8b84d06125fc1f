import { sanitizeLine, sanitizeStyled } from '../../sanitize.ts';
import { widthOf } from '../../text-width.ts';
import type { LiveClock, Screen, ScreenSize } from '../terminal.ts';

/** The lines to show, and the title of the window. */
export interface LiveBlock {
  readonly lines: readonly string[];
  readonly title: string;
  /** True if the user types a text: then what is pasted comes as such. */
  readonly takesText?: boolean;
}

const ESC = '\u001b';
const [BEGIN_FRAME, END_FRAME] = [`${ESC}[?2026h`, `${ESC}[?2026l`];
const [SAVE_CURSOR, RESTORE_CURSOR] = [`${ESC}7`, `${ESC}8`];
const [SAVE_TITLE, RESTORE_TITLE] = [`${ESC}[22;2t`, `${ESC}[23;2t`];
const [PASTE_ON, PASTE_OFF] = [`${ESC}[?2004h`, `${ESC}[?2004l`];
const [CLEAR_LINE, CLEAR_BELOW] = [`${ESC}[K`, `${ESC}[J`];
/** The rows that are kept free below the block. */
const ROWS_BELOW = 2;
const REPAINT_DELAY_MS = 80;
const TICK_MS = 1_000;
/** More lines are not kept while they are held back. */
const MAX_HELD_LINES = 10_000;

/** A block that is shown, and the size that the screen had then. */
interface ShownBlock extends LiveBlock {
  readonly columns: number;
  readonly rows: number;
}

/**
 * Keeps a block of lines at the bottom of a screen and lets finished lines scroll away above it. Each frame is one write
 * that paints over the last, so that nothing flickers. Between frames the cursor is on the row below the block, where
 * other programs may write, and one more row is free below it: what the user types meanwhile, even a line feed, moves
 * nothing and is gone with the next frame.
 */
export class Painter {
  private readonly screen: Screen;
  private readonly clock: LiveClock;
  private readonly draw: (now: number, size: ScreenSize) => LiveBlock;
  private readonly stopListening: readonly (() => void)[];
  private cancelRepaint: (() => void) | undefined;
  private finishedLines: string[] = [];
  /** The current screen; undefined before the first frame and after the last. */
  private shown: ShownBlock | undefined;
  private closed = false;
  /** True if another program has the screen. */
  private isLent = false;
  /** True if finished lines wait, and how many were left out because they became too many. */
  private isHeld = false;
  private leftOut = 0;

  constructor(screen: Screen, clock: LiveClock, draw: (now: number, size: ScreenSize) => LiveBlock) {
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
    this.finishedLines.push(sanitizeStyled(line));
    if (this.isHeld && this.finishedLines.length > MAX_HELD_LINES) {
      this.leftOut += this.finishedLines.length - MAX_HELD_LINES / 2;
      this.finishedLines = this.finishedLines.slice(-MAX_HELD_LINES / 2);
    }
    this.scheduleRepaint();
  }

  /** Holds finished lines back, so that nothing moves, or lets them go. */
  hold(isHeld: boolean): void {
    this.isHeld = isHeld;
    this.scheduleRepaint();
  }

  /** Leaves the screen to another program until the returned function is called; finished lines wait. */
  lend(): () => void {
    this.write(`${this.eraseBlock()}${this.takeFinished()}${this.restoreModes()}`);
    this.shown = undefined;
    this.isLent = true;
    this.hold(true);
    return () => {
      this.isLent = false;
      this.hold(false);
    };
  }

  /** How many finished lines are held back. */
  get heldLines(): number {
    return this.isHeld ? this.finishedLines.length + this.leftOut : 0;
  }

  /** Schedules a frame, because something has changed. Many changes make one frame. */
  scheduleRepaint(): void {
    if (this.closed) return;
    this.cancelRepaint ??= this.clock.after(REPAINT_DELAY_MS, () => this.paint());
  }

  /** Removes the block and restores the screen. */
  close(): void {
    if (this.closed) return;
    this.stop();
    this.write(`${this.eraseBlock()}${this.takeFinished()}${this.restoreModes()}`);
    this.shown = undefined;
  }

  /** Paints at once. */
  paint(): void {
    this.cancelRepaint?.();
    this.cancelRepaint = undefined;
    if (this.closed) return;
    const { columns, rows } = this.screen.size();
    const area = { columns, rows: Math.max(1, rows - ROWS_BELOW), color: this.screen.color };
    const drawn = sanitizeBlock(this.draw(this.clock.now(), area));
    if (this.isLent || this.isShown(drawn, columns)) return;
    const title = drawn.title === (this.shown?.title ?? '') ? '' : `${ESC}]2;${drawn.title}\u0007`;
    const saveTitle = this.shown === undefined ? SAVE_TITLE : '';
    const finished = this.isHeld ? '' : this.takeFinished();
    const paste = drawn.takesText === (this.shown?.takesText ?? false) ? '' : drawn.takesText ? PASTE_ON : PASTE_OFF;
    const start = `${saveTitle}${title}${paste}${finished === '' ? this.toTop() : this.eraseBlock()}${finished}`;
    const block = drawn.lines.join(`${CLEAR_LINE}\r\n`);
    const below = drawn.lines.length === 0 ? '' : `\r\n\n${ESC}[A`;
    this.write(`${BEGIN_FRAME}${start}${block}${CLEAR_BELOW}${below}${SAVE_CURSOR}${END_FRAME}`);
    this.shown = { ...drawn, columns, rows };
  }

  /** Leaves the block standing, because the process ends or is suspended and others write from here on. */
  private leave(): void {
    if (this.closed || this.shown === undefined) return;
    this.write(`${this.toCursor()}${this.takeFinished()}${this.restoreModes()}`);
    this.shown = undefined;
  }

  private restoreModes(): string {
    if (this.shown === undefined) return '';
    return `${this.shown.takesText ? PASTE_OFF : ''}${RESTORE_TITLE}`;
  }

  private isShown({ lines, title }: LiveBlock, columns: number): boolean {
    const { shown, finishedLines, isHeld } = this;
    if (finishedLines.length > 0 && !isHeld) return false;
    if (shown === undefined) return lines.length === 0;
    const same = lines.length === shown.lines.length && lines.every((line, index) => line === shown.lines[index]);
    return same && title === shown.title && columns === shown.columns;
  }

  /** Moves the cursor to where the block begins. */
  private toTop(): string {
    const above = this.rowsOf(this.shown?.lines ?? []);
    return above === 0 ? this.toCursor() : `${this.toCursor()}${ESC}[${above}A`;
  }

  /** Moves the cursor to where we left it; after a resize only the terminal knows where that is. */
  private toCursor(): string {
    const { columns, rows } = this.screen.size();
    const isSame = this.shown?.columns === columns && this.shown.rows === rows;
    return isSame ? `${RESTORE_CURSOR}\r` : '\r';
  }

  /** Erases the block row by row: tmux would keep in its history what is cleared all at once. */
  private eraseBlock(): string {
    if (this.shown === undefined) return '';
    if (this.shown.lines.length === 0) return this.toCursor();
    const rows = this.rowsOf(this.shown.lines) + ROWS_BELOW;
    return `${this.toTop()}${Array(rows).fill(CLEAR_LINE).join(`${ESC}[B`)}${ESC}[${rows - 1}A`;
  }

  /** The number of rows that lines take now: a window that has become narrower has wrapped them. */
  private rowsOf(lines: readonly string[]): number {
    const { columns } = this.screen.size();
    return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(widthOf(line) / columns)), 0);
  }

  private takeFinished(): string {
    const note = this.leftOut === 0 ? [] : [`… ${this.leftOut} lines were left out here; the log has them`];
    const lines = [...note, ...this.finishedLines].map((line) => `${line}\r\n`).join('');
    this.finishedLines = [];
    this.leftOut = 0;
    return lines;
  }

  private write(text: string): void {
    if (text !== '') this.screen.write(text);
  }

  private stop(): void {
    this.closed = true;
    this.cancelRepaint?.();
    for (const stop of this.stopListening) stop();
  }
}

/** The one way to the screen: what names and texts contain must not control it. */
const sanitizeBlock = ({ lines, title, takesText = false }: LiveBlock): LiveBlock => ({
  takesText,
  lines: lines.map(sanitizeStyled),
  title: sanitizeLine(title),
});
