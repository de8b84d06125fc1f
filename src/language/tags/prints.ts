import { PRINT_TAG } from '../text/markup.ts';
import { TAG_NAMES, TRANSITIONS } from '../transitions/index.ts';

/** The yield of a piece of text: the `<print>` texts that it completes, and everything outside of them. */
export interface PrintPiece {
  readonly prints: readonly string[];
  readonly rest: string;
}

/** Reads the `<print>` tags of a text that comes in pieces. */
export interface PrintReader {
  readonly push: (piece: string) => PrintPiece;
  /** Ends the text: what was begun and not closed is an ordinary text. */
  readonly end: () => PrintPiece;
}

/** A longer text is no `<print>`. */
export const MAX_PRINT_CHARS = 64 * 1024;

/** Longer tags and marks are none; so what may have begun at the end of a piece is not waited for without end. */
const MAX_TOKEN_CHARS = 1_000;

type Mode =
  | { readonly kind: 'text' }
  /** Fenced code; `isOpening` in its first line. */
  | { readonly kind: 'fence'; readonly mark: string; readonly length: number; readonly isOpening: boolean }
  | { readonly kind: 'comment' }
  /** Inside a tag whose body is a text, which is handed on as it is. */
  | { readonly kind: 'body'; readonly tag: string }
  /** `bodyAt` is where the text begins. */
  | { readonly kind: 'print'; readonly bodyAt: number };

const TEXT: Mode = { kind: 'text' };
const MARKS = /^(?:`{1,1000}|~{1,1000})/;
const TEXT_TAGS = TAG_NAMES.filter((name) => TRANSITIONS[name].body === 'text').join('|');
const OPENER = new RegExp(`^<(?:!--|(print|${TEXT_TAGS})(?=[\\s/>])[^<>]{0,200}>)`, 'i');
/** The beginning of what `OPENER` finds, at the end of a piece. */
const PARTIAL_OPENER = new RegExp(`^<(?:!-?|[a-z]{0,20}|(?:print|${TEXT_TAGS})[\\s/][^<>]{0,200})$`, 'i');

/**
 * Creates a reader for one text. What it reads does not depend on how the text is cut, and is never taken back: code, comments
 * and the texts of other tags are told by what stands before them. A fence or a comment that is never closed lasts to the end,
 * inline code that is never closed to the end of its line. Takes linear time for any text.
 */
export function createPrintReader(): PrintReader {
  /** The undecided rest. */
  let pending = '';
  let mode: Mode = TEXT;
  /** True if only blanks stand before `pending` in its line. */
  let atLineStart = true;
  /** The number of backticks that the inline code around `pending` began with; 0 outside of any. */
  let openBackticks = 0;
  /** Up to where `pending` was searched for the end of a `<print>`. */
  let searchedTo = 0;
  const printTag = new RegExp(PRINT_TAG);
  let rest = '';
  let prints: string[] = [];

  const drop = (length: number): void => {
    pending = pending.slice(length);
    searchedTo = 0;
  };
  /** Lets go of the first characters, which are no `<print>`. */
  const pass = (length: number): void => {
    rest += pending.slice(0, length);
    drop(length);
  };

  /** Reads on in plain text. Like all readers, it says whether to continue: false if more of the text is needed. */
  const readText = (isEnd: boolean): boolean => {
    const at = pending.search(/[\n`~<]/);
    const before = at === -1 ? pending.length : at;
    if (pending.slice(0, before).trim() !== '') atLineStart = false;
    pass(before);
    if (pending.startsWith('<')) return readOpener(isEnd);
    if (!pending.startsWith('\n')) return pending !== '' && readMarks(isEnd);
    atLineStart = true;
    openBackticks = 0;
    pass(1);
    return true;
  };

  /** Reads backticks or tildes: they begin a fence, begin or end inline code, or mean nothing. */
  const readMarks = (isEnd: boolean): boolean => {
    const run = MARKS.exec(pending)?.[0] ?? '';
    if (run.length === pending.length && run.length < MAX_TOKEN_CHARS && !isEnd) return false;
    const mark = run.slice(0, 1);
    if (atLineStart && run.length >= 3) mode = { kind: 'fence', mark, length: run.length, isOpening: true };
    else if (mark === '`' && openBackticks === 0) openBackticks = run.length;
    else if (mark === '`' && openBackticks === run.length) openBackticks = 0;
    atLineStart = false;
    pass(run.length);
    return true;
  };

  const readOpener = (isEnd: boolean): boolean => {
    atLineStart = false;
    const found = openBackticks > 0 ? null : OPENER.exec(pending);
    if (found === null) {
      if (openBackticks === 0 && !isEnd && PARTIAL_OPENER.test(pending)) return false;
      pass(1);
      return true;
    }
    const [opener, name] = found;
    if (name === undefined) mode = { kind: 'comment' };
    else if (name.toLowerCase() === 'print') {
      if (opener.endsWith('/>')) drop(opener.length);
      else mode = { kind: 'print', bodyAt: opener.length };
      return true;
    } else if (!opener.endsWith('/>')) mode = { kind: 'body', tag: name };
    pass(opener.length);
    return true;
  };

  const readFence = (fence: Extract<Mode, { kind: 'fence' }>, isEnd: boolean): boolean => {
    const { mark, length, isOpening } = fence;
    if (pending.startsWith('\n')) {
      atLineStart = true;
      mode = { ...fence, isOpening: false };
      pass(1);
      return true;
    }
    const newline = pending.indexOf('\n');
    const lineEnd = newline === -1 ? pending.length : newline;
    const line = pending.slice(0, lineEnd);
    if (isOpening && mark === '`' && line.includes('`')) {
      // A line with backticks further on has inline code.
      mode = TEXT;
      openBackticks = length;
      return true;
    }
    const marks = line.trim();
    if (atLineStart && lineEnd < MAX_TOKEN_CHARS && marks === mark.repeat(marks.length)) {
      if (newline === -1 && !isEnd) return false;
      if (marks.length >= length) mode = TEXT;
    }
    atLineStart = false;
    pass(lineEnd);
    return true;
  };

  /** Reads on to the end of a comment or of another tag's text; `partial` is the beginning of such an end. */
  const readUntil = (closer: RegExp, partial: RegExp, isEnd: boolean): boolean => {
    const found = closer.exec(pending);
    if (found !== null) {
      pass(found.index + found[0].length);
      mode = TEXT;
      return true;
    }
    const begun = isEnd ? -1 : pending.slice(-MAX_TOKEN_CHARS).search(partial);
    pass(begun === -1 ? pending.length : Math.max(0, pending.length - MAX_TOKEN_CHARS) + begun);
    return false;
  };

  const readPrint = (bodyAt: number, isEnd: boolean): boolean => {
    printTag.lastIndex = Math.max(bodyAt, searchedTo);
    const found = printTag.exec(pending);
    if (found !== null && found.index - bodyAt <= MAX_PRINT_CHARS) {
      const [tag, slash] = found;
      if (slash === '') {
        // The one before was only mentioned.
        pass(found.index);
        mode = { kind: 'print', bodyAt: tag.length };
        return true;
      }
      const text = pending.slice(bodyAt, found.index).trim();
      if (text !== '') prints.push(text);
      mode = TEXT;
      drop(found.index + tag.length);
      return true;
    }
    const begun = pending.lastIndexOf('<');
    searchedTo = begun === -1 || pending.length - begun > MAX_TOKEN_CHARS ? pending.length : begun;
    if (!isEnd && found === null && pending.length - bodyAt <= MAX_PRINT_CHARS + MAX_TOKEN_CHARS) return false;
    mode = TEXT;
    pass(bodyAt);
    return true;
  };

  const readNext = (isEnd: boolean): boolean => {
    if (pending === '') return false;
    switch (mode.kind) {
      case 'text':
        return readText(isEnd);
      case 'fence':
        return readFence(mode, isEnd);
      case 'comment':
        return readUntil(/-->/, /--?$/, isEnd);
      case 'body':
        return readUntil(new RegExp(`</${mode.tag}\\s{0,200}>`, 'i'), /<(?:\/[a-z-]*\s{0,200})?$/i, isEnd);
      case 'print':
        return readPrint(mode.bodyAt, isEnd);
    }
  };

  const read = (isEnd: boolean): PrintPiece => {
    while (readNext(isEnd));
    const piece = { prints, rest };
    prints = [];
    rest = '';
    return piece;
  };

  return {
    push(piece) {
      pending += piece;
      return read(false);
    },
    end: () => read(true),
  };
}

/** Reads a whole text. */
export function readPrints(text: string): PrintPiece {
  if (!/<print/i.test(text)) return { prints: [], rest: text };
  const reader = createPrintReader();
  const { prints, rest } = reader.push(text);
  const end = reader.end();
  return { prints: [...prints, ...end.prints], rest: rest + end.rest };
}
