import type { KeyListener, LiveClock, Screen } from '../../../../src/render/terminal/terminal.ts';
import { widthOf } from '../../../../src/render/text-width.ts';

/** A terminal in memory. It supports only the codes that the painter uses, and throws at any other. */
export class FakeTerminal implements Screen {
  /** All rows, including those that have scrolled out of view. */
  private rows: string[][] = [[]];
  private top = 0;
  private row = 0;
  private column = 0;
  private saved = { row: 0, top: 0 };
  title = 'shell';
  private readonly titles: string[] = [];
  /** All writes, in order. */
  readonly writes: string[] = [];
  color = false;
  private readonly listeners = new Set<() => void>();
  leave: (() => void) | undefined;
  back: (() => void) | undefined;
  onKeyPressed: KeyListener | undefined;
  private columns: number;
  private height: number;

  constructor(columns = 80, height = 24) {
    this.columns = columns;
    this.height = height;
  }

  readonly size = () => ({ columns: this.columns, rows: this.height });

  readonly onResize = (act: () => void) => {
    this.listeners.add(act);
    return () => this.listeners.delete(act);
  };

  readonly onLeave = (leave: () => void, back: () => void) => {
    Object.assign(this, { leave, back });
    return () => Object.assign(this, { leave: undefined, back: undefined });
  };

  readonly onKey = (act: KeyListener) => {
    this.onKeyPressed = act;
    return () => {
      this.onKeyPressed = undefined;
    };
  };

  readonly write = (text: string): void => {
    this.writes.push(text);
    for (const [, code, title, mark, character = ''] of text.matchAll(TOKENS)) {
      if (code !== undefined) this.applyCode(code);
      else if (mark === '7') this.saved = { row: this.row, top: this.top };
      else if (mark === '8') this.row = this.top + this.saved.row - this.saved.top;
      else if (title !== undefined) this.title = title;
      else this.put(character);
    }
  };

  /** Whether a listener for changes of size is left. */
  get isWatched(): boolean {
    return this.listeners.size > 0;
  }

  /** The screen and its scrollback, without empty rows at the end. */
  get text(): string {
    return this.rows
      .map((row) => row.join('').trimEnd())
      .join('\n')
      .trimEnd();
  }

  /** Makes the window wider or narrower; lines that no longer fit are broken, as most terminals do. */
  resize(columns: number): void {
    // The cursor may rest on a row that nobody has written on.
    this.here.splice(this.columns);
    const [before, cursor] = [this.rows, this.row];
    this.rows = [];
    before.forEach((cells, index) => {
      if (index === cursor) this.row = this.rows.length;
      const line = [...cells];
      do this.rows.push(line.splice(0, columns));
      while (line.length > 0);
    });
    this.columns = columns;
    this.top = Math.max(0, this.rows.length - this.height);
    for (const act of this.listeners) act();
  }

  private applyCode(code: string): void {
    const [, count, letter] = /^(\d*)([ABJK])$/.exec(code) ?? [];
    const by = Number(count || 1);
    if (letter === 'A') this.row = Math.max(this.top, this.row - by);
    else if (letter === 'B') this.row = Math.min(this.top + this.height - 1, this.row + by);
    else if (letter === 'K') this.here.splice(this.column);
    else if (letter === 'J') this.clearBelow();
    else if (code === '22;2t') this.titles.push(this.title);
    else if (code === '23;2t') this.title = this.titles.pop() ?? '';
    else if (!/^\?(?:2026|2004)[hl]$|^\d+m$/.test(code)) throw new Error(`unknown code: ${code}`);
  }

  private clearBelow(): void {
    this.here.splice(this.column);
    this.rows.splice(this.row + 1);
  }

  private put(character: string): void {
    if (character === '\r') this.column = 0;
    else if (character === '\n') this.down();
    else {
      const width = widthOf(character);
      if (this.column + width > this.columns) {
        this.column = 0;
        this.down();
      }
      while (this.here.length < this.column) this.here.push(' ');
      this.here.splice(this.column, width, character, ...Array<string>(Math.max(0, width - 1)).fill(''));
      this.column += width;
    }
  }

  private down(): void {
    this.row += 1;
    this.top = Math.max(this.top, this.row - this.height + 1);
  }

  private get here(): string[] {
    while (this.rows.length <= this.row) this.rows.push([]);
    return this.rows[this.row] ?? [];
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const TOKENS = /\u001b\[([^A-Za-z]*[A-Za-z])|\u001b\]2;([^\u0007]*)\u0007|\u001b([78])|([\s\S])/gu;

/** A clock that advances only on request. */
export class FakeClock implements LiveClock {
  private at = 0;
  private readonly due = new Set<{ at: number; every: number | null; readonly act: () => void }>();

  readonly now = () => this.at;
  readonly after = (ms: number, act: () => void) => this.add(this.at + ms, null, act);
  readonly every = (ms: number, act: () => void) => this.add(this.at + ms, ms, act);

  /** Whether no timer is left. */
  get isIdle(): boolean {
    return this.due.size === 0;
  }

  advance(ms: number): void {
    const until = this.at + ms;
    for (;;) {
      const [next] = [...this.due].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.at = next.at;
      if (next.every === null) this.due.delete(next);
      else next.at += next.every;
      next.act();
    }
    this.at = until;
  }

  private add(at: number, every: number | null, act: () => void): () => void {
    const entry = { at, every, act };
    this.due.add(entry);
    return () => this.due.delete(entry);
  }
}
