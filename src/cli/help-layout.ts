import { Help } from 'commander';

/** A word and what it is for. */
export type HelpRow = readonly [word: string, purpose: string];

/** Lays help out for a terminal: what a word is for stands beside it, or below it where there is little room. */
export class HelpLayout extends Help {
  override minWidthToWrap = 20;

  constructor(columns: number) {
    super();
    this.helpWidth = columns;
  }

  override formatItem(term: string, width: number, purpose: string, helper: Help): string {
    const columns = this.helpWidth ?? 80;
    if (purpose === '' || columns - width - 4 >= MIN_PURPOSE_COLUMNS) {
      return super.formatItem(term, width, purpose, helper);
    }
    return `  ${term}\n${this.boxWrap(purpose, columns - PURPOSE_INDENT.length).replace(/^/gm, PURPOSE_INDENT)}`;
  }

  /** A part of the help that stands by itself. */
  paragraph(text: string): string {
    return `\n${this.boxWrap(text, this.helpWidth ?? 80)}`;
  }

  /** One that has a heading. */
  section(heading: string, rows: readonly HelpRow[]): string {
    const width = Math.max(...rows.map(([term]) => term.length));
    const items = rows.map(([term, purpose]) => this.formatItem(term, width, purpose, this));
    return [this.paragraph(heading), ...items].join('\n');
  }
}

const MIN_PURPOSE_COLUMNS = 30;
const PURPOSE_INDENT = ' '.repeat(6);
