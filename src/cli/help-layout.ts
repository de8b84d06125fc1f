import { Help } from 'commander';

/** A word and what it is for. */
export type Row = readonly [word: string, purpose: string];

/** Lays help out for a terminal: what a word is for stands beside it, or below it where there is little room. */
export class HelpLayout extends Help {
  override minWidthToWrap = 20;

  constructor(columns: number) {
    super();
    this.helpWidth = columns;
  }

  override formatItem(word: string, width: number, purpose: string, helper: Help): string {
    const columns = this.helpWidth ?? 80;
    if (purpose === '' || columns - width - 4 >= LEAST_BESIDE) {
      return super.formatItem(word, width, purpose, helper);
    }
    return `  ${word}\n${this.boxWrap(purpose, columns - BELOW.length).replace(/^/gm, BELOW)}`;
  }

  /** A part of the help that stands by itself. */
  paragraph(text: string): string {
    return `\n${this.boxWrap(text, this.helpWidth ?? 80)}`;
  }

  /** One that has a heading. */
  section(heading: string, rows: readonly Row[]): string {
    const width = Math.max(...rows.map(([word]) => word.length));
    const items = rows.map(([word, purpose]) => this.formatItem(word, width, purpose, this));
    return [this.paragraph(heading), ...items].join('\n');
  }
}

const LEAST_BESIDE = 30;
const BELOW = ' '.repeat(6);
