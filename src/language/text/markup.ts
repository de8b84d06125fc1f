/** A part of a message whose tags are only mentions, from `start` up to but not including `end`. */
export interface Region {
  readonly kind: 'code' | 'comment';
  readonly start: number;
  readonly end: number;
}

/**
 * Finds fenced code, inline code and HTML comments. What begins first wins, as in markdown; a fence, a backtick or a
 * comment that is never closed is plain text. Takes linear time for any text.
 */
export function findRegions(text: string): readonly Region[] {
  if (!/[`~]|<!--/.test(text)) return [];
  const regions: Region[] = [];
  const fenceEnd = fenceCloser(text);
  const backtickEnd = backtickCloser(text);
  const lastCommentEnd = text.lastIndexOf('-->');
  const candidate = /`+|~{3,}|<!--/g;
  for (let found = candidate.exec(text); found !== null; found = candidate.exec(text)) {
    const start = found.index;
    const isComment = found[0] === '<!--';
    const end = isComment ? commentEnd(text, start, lastCommentEnd) : (fenceEnd(start) ?? backtickEnd(start));
    if (end === undefined) continue;
    regions.push({ kind: isComment ? 'comment' : 'code', start, end });
    candidate.lastIndex = end;
  }
  return regions;
}

/** The comments among these regions, and those inside their code. */
export function commentsOf(text: string, regions: readonly Region[]): readonly Region[] {
  return regions.flatMap((region) => (region.kind === 'comment' ? region : commentsWithin(text, region)));
}

/** The text with these regions replaced by blanks, so that its length and its lines stay the same. */
export function blank(text: string, regions: readonly Omit<Region, 'kind'>[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of regions) {
    parts.push(
      text.slice(from, start),
      text.slice(start, end).replace(/[^\n]+/g, (line) => ' '.repeat(line.length)),
    );
    from = end;
  }
  return parts.join('') + text.slice(from);
}

/** An opening or closing `<print>`. */
export const PRINT_TAG = /<(\/?)print(?=[\s/>])[^<>]{0,200}>/gi;

/** The text with each `<print>` and its text replaced by blanks. One that is never closed is only a word. */
export function blankPrints(text: string): string {
  if (!/<print/i.test(text)) return text;
  const spans: { readonly start: number; readonly end: number }[] = [];
  let start: number | null = null;
  for (const { 0: tag, 1: slash, index } of text.matchAll(PRINT_TAG)) {
    if (slash === '') start = tag.endsWith('/>') ? null : index;
    else if (start !== null) {
      spans.push({ start, end: index + tag.length });
      start = null;
    }
  }
  return blank(text, spans);
}

type Closer = (start: number) => number | undefined;

/** Where the comment that starts here is closed; `<!-->` is a whole one, as in HTML. */
function commentEnd(text: string, start: number, lastCommentEnd: number): number | undefined {
  return lastCommentEnd > start + 1 ? text.indexOf('-->', start + 2) + 3 : undefined;
}

function commentsWithin(text: string, { start, end }: Region): readonly Region[] {
  const code = text.slice(start, end);
  const lastCommentEnd = code.lastIndexOf('-->');
  const comments: Region[] = [];
  for (let at = code.indexOf('<!--'); at !== -1; ) {
    const close = commentEnd(code, at, lastCommentEnd);
    if (close === undefined) break;
    comments.push({ kind: 'comment', start: start + at, end: start + close });
    at = code.indexOf('<!--', close);
  }
  return comments;
}

interface FenceLine {
  readonly run: string;
  readonly opens: boolean;
  readonly closes: boolean;
  readonly end: number;
}

/** Where the fence that starts here is closed: by a line of nothing but as many of the same marks, or more. */
function fenceCloser(text: string): Closer {
  const lines: FenceLine[] = [];
  const indexOf = new Map<number, number>();
  for (const found of text.matchAll(/^[ \t]*(`{3,}|~{3,})([^\n]*)$/gm)) {
    const [line, run = '', rest = ''] = found;
    indexOf.set(found.index + line.indexOf(run), lines.length);
    lines.push({
      run,
      opens: run.startsWith('~') || !rest.includes('`'),
      closes: rest.trim() === '',
      end: found.index + line.length,
    });
  }
  // The longest closing line still to come, per mark, so that nothing is searched for a fence that cannot be closed.
  const longestAfter: { readonly '`': number; readonly '~': number }[] = new Array(lines.length);
  let longest = { '`': 0, '~': 0 };
  for (let i = lines.length - 1; i >= 0; i--) {
    longestAfter[i] = longest;
    const line = lines[i];
    if (line?.closes) longest = { ...longest, [mark(line)]: Math.max(longest[mark(line)], line.run.length) };
  }
  return (start) => {
    const index = indexOf.get(start);
    const open = index === undefined ? undefined : lines[index];
    if (index === undefined || open === undefined || !open.opens) return undefined;
    if ((longestAfter[index]?.[mark(open)] ?? 0) < open.run.length) return undefined;
    for (let i = index + 1; i < lines.length; i++) {
      const line = lines[i];
      if (line?.closes && line.run.startsWith(open.run)) return line.end;
    }
    return undefined;
  };
}

const mark = (line: FenceLine): '`' | '~' => (line.run.startsWith('~') ? '~' : '`');

/** Where inline code that starts here is closed: by a run of as many backticks in the same paragraph. */
function backtickCloser(text: string): Closer {
  const ends = new Map<number, number>();
  const open = new Map<number, number>();
  for (const found of text.matchAll(/`+|\n[ \t\r]*(?=\n)/g)) {
    const length = found[0].length;
    if (!found[0].startsWith('`')) {
      open.clear();
      continue;
    }
    const previous = open.get(length);
    if (previous !== undefined) ends.set(previous, found.index + length);
    open.set(length, found.index);
  }
  return (start) => ends.get(start);
}
