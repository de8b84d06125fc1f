import { type MappedText, MappedTextBuilder } from './mapped-text.ts';
import { type Word, WordReader } from './word.ts';

/** An operator; a `<<` carries the document that follows, and a redirection the number before it. */
export interface Operator {
  readonly kind: 'operator';
  readonly op: string;
  readonly at: number;
  readonly fd: string;
  readonly document: MappedText | null;
}

export type Token = Word | Operator;

const OPERATORS = [
  ...[';;&', '<<<', '<<-', '&>>', ';;', ';&', '&&', '||', '|&', '<<', '>>', '>&', '<&', '&>', '<>', '>|'],
  ...['\n', ';', '&', '|', '(', ')', '<', '>'],
];

/** Cuts a bash script into tokens, from some place on; undefined if it ends in the middle of something. */
export function tokenize(script: string, from = 0): readonly Token[] | undefined {
  const reader = new WordReader(script);
  const tokens: Token[] = [];
  const awaited: number[] = [];
  for (let at: number | undefined = from; at < script.length; ) {
    const blank = blankAt(script, at);
    if (blank > at) {
      at = blank;
      continue;
    }
    const [fd = ''] = /^\d+(?=[<>])/.exec(script.slice(at, at + 4)) ?? [];
    const op = operatorAt(script, at + fd.length);
    if (op !== undefined) {
      tokens.push({ kind: 'operator', op, at, fd, document: null });
      at += fd.length + op.length;
      if (op === '\n' && awaited.length > 0) at = readDocuments(script, at, reader, tokens, awaited.splice(0));
    } else if (script.startsWith('((', at)) {
      const end = reader.closing(at, '(', ')');
      const asks = script.slice(at, end).match(/[a-z_]\w*/gi) ?? [];
      tokens.push({
        kind: 'word',
        text: '((',
        pieces: [],
        placeholders: [],
        at,
        plain: true,
        substitutionRanges: [],
        expansions: asks,
      });
      at = end;
    } else {
      const before = tokens.at(-1);
      if (before?.kind === 'operator' && /^<<-?$/.test(before.op)) awaited.push(tokens.length - 1);
      const read = reader.word(at);
      if (read !== undefined) tokens.push(read.word);
      at = read?.end;
    }
    if (at === undefined) return undefined;
  }
  return awaited.length > 0 ? undefined : tokens;
}

/** The offset of the next thing that is neither blank, comment nor continued line. */
function blankAt(script: string, at: number): number {
  const char = script[at] ?? '';
  if (char === ' ' || char === '\t' || char === '\r') return at + 1;
  if (char === '#') return lineEnd(script, at);
  return /^\\\r?\n/.test(script.slice(at, at + 3)) ? lineEnd(script, at) + 1 : at;
}

/** The operator here; `((` and the brackets of `<(…)` are none. */
function operatorAt(script: string, at: number): string | undefined {
  if (script.startsWith('((', at) || /^[<>]\(/.test(script.slice(at, at + 2))) return undefined;
  return OPERATORS.find((each) => script.startsWith(each, at));
}

/** Reads the here documents that were announced on the line above. */
function readDocuments(
  script: string,
  from: number,
  reader: WordReader,
  tokens: Token[],
  awaited: readonly number[],
): number | undefined {
  let at = from;
  for (const index of awaited) {
    const [opener, delimiter] = [tokens[index], tokens[index + 1]];
    if (opener?.kind !== 'operator' || delimiter?.kind !== 'word') return undefined;
    const last = lastLine(script, at, delimiter.text, opener.op === '<<-');
    if (last === undefined) return undefined;
    const cutter = new MappedTextBuilder();
    if (!delimiter.plain) cutter.add(script.slice(at, last), at);
    else if (reader.text(at, '', last, cutter) === undefined) return undefined;
    tokens[index] = { ...opener, document: cutter };
    at = lineEnd(script, last) + 1;
  }
  return at;
}

/** Where the line begins that ends a here document. */
function lastLine(script: string, from: number, delimiter: string, strip: boolean): number | undefined {
  for (let start = from; start < script.length; start = lineEnd(script, start) + 1) {
    const line = script.slice(start, lineEnd(script, start)).replace(/\r$/, '');
    if ((strip ? line.replace(/^\t+/, '') : line) === delimiter) return start;
  }
  return undefined;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
