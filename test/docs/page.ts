/** A fenced block: its kind is the first word after the fence, the name is the rest. */
export interface Block {
  readonly kind: string;
  readonly name: string;
  readonly text: string;
  readonly line: number;
  /** The last line of text above it, in which readers see its name. */
  readonly above: string;
}

/** A table of a page, with the text of its cells. */
export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly line: number;
}

/** A heading with the blocks and tables below it, up to the next heading of any level. */
export interface Section {
  readonly title: string;
  readonly level: number;
  readonly parent: Section | undefined;
  readonly blocks: Block[];
  readonly tables: Table[];
}

/** Reads a page of our documentation. */
export function readPage(text: string): readonly Section[] {
  const sections: Section[] = [];
  const lines = text.split('\n');
  let above = '';
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const heading = /^(#+) (.*)$/.exec(line);
    const fence = /^(`{3,})(\S*) ?(.*)$/.exec(line);
    const section = sections.at(-1);
    if (heading !== null) {
      const level = heading[1]?.length ?? 0;
      const parent = sections.findLast((each) => each.level < level);
      sections.push({ title: heading[2] ?? '', level, parent, blocks: [], tables: [] });
    } else if (fence !== null) {
      const end = lines.indexOf(fence[1] ?? '', at + 1);
      if (end === -1) throw new Error(`line ${at + 1}: this block is never closed`);
      const text = lines.slice(at + 1, end).join('\n');
      section?.blocks.push({ kind: fence[2] ?? '', name: fence[3] ?? '', text, line: at + 1, above });
      at = end;
    } else if (line.startsWith('|')) {
      const end = lines.findIndex((each, index) => index > at && !each.startsWith('|'));
      const [header = [], , ...rows] = lines.slice(at, end).map(cellsOf);
      section?.tables.push({ header, rows, line: at + 1 });
      at = end - 1;
    }
    if (line.trim() !== '') above = line;
  }
  return sections;
}

/** The text of a cell without markup; if it has code, only the pieces of code, one per line. */
export function plain(cell: string): string {
  const code = [...cell.matchAll(/(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)/g)].map(([, , inside = '']) =>
    inside.startsWith('`') || inside.endsWith('` ') ? inside.trim() : inside,
  );
  return code.length === 0 ? cell : code.join('\n');
}

const cellsOf = (line: string): readonly string[] =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split('|')
    .map((cell) => cell.trim());
