/** A pattern in the syntax of RE2, and the texts for which it means the same as it did in JavaScript. */
export interface LinearSource {
  readonly source: string;
  readonly ignoresCase: boolean;
  /** A text that matches this needs the engine of JavaScript. */
  readonly unfit: RegExp | null;
}

/**
 * Translates a pattern of JavaScript for an engine that needs linear time. Null for lookarounds, back references and anything
 * whose meaning may differ: that remains for the engine of JavaScript.
 */
export function toLinearSource(pattern: string, flags: string): LinearSource | null {
  const [isUnicode, ignoresCase, isMultiline] = ['u', 'i', 'm'].map((flag) => flags.includes(flag));
  if (ignoresCase && /[^\0-\x7f]/.test(pattern)) return null;
  if (!isUnicode && /[\ud800-\udfff]/.test(pattern)) return null;
  const source = translate([...pattern], flags);
  if (source === null) return null;
  const unfit = [
    ...(isUnicode ? [] : ['\\ud800-\\udfff']),
    // Only JavaScript ends a line at these.
    ...(isMultiline ? ['\\r\\u2028\\u2029'] : []),
    // Only RE2 takes these for an `s` and a `k`.
    ...(ignoresCase ? ['\\u017f\\u212a'] : []),
  ];
  return {
    source,
    ignoresCase: ignoresCase === true,
    unfit: unfit.length === 0 ? null : new RegExp(`[${unfit.join('')}]`),
  };
}

const LINE_ENDS = '\\x{a}\\x{d}\\x{2028}\\x{2029}';
const WHITE_SPACE =
  '\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const ANYTHING = '[\\x{0}-\\x{10ffff}]';
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

const hex = (code: number): string => `\\x{${code.toString(16)}}`;
const hexOf = (character: string): string => hex(character.codePointAt(0) ?? 0);

/** Part of the translation, and where the pattern continues. */
type Piece = readonly [text: string, next: number] | null;

function translate(pattern: readonly string[], flags: string): string | null {
  let source = '';
  let at = 0;
  while (at < pattern.length) {
    const piece = translateAt(pattern, at, flags);
    if (piece === null) return null;
    source += piece[0];
    at = piece[1];
  }
  return source;
}

function translateAt(pattern: readonly string[], at: number, flags: string): Piece {
  const character = pattern[at] ?? '';
  switch (character) {
    case '\\':
      return translateEscape(pattern, at, flags, false);
    case '[':
      return translateClass(pattern, at, flags);
    case '.':
      return [flags.includes('s') ? ANYTHING : `[^${LINE_ENDS}]`, at + 1];
    case '^':
      return [flags.includes('m') ? '(?m:^)' : '\\A', at + 1];
    case '$':
      return [flags.includes('m') ? '(?m:$)' : '\\z', at + 1];
    case '(': {
      const [head = '('] = /^\((?:\?(?::|<\w+>))?/.exec(pattern.slice(at, at + 200).join('')) ?? [];
      return head === '(' && pattern[at + 1] === '?' ? null : ['(?:', at + head.length];
    }
    case '{': {
      const [counted] = /^\{\d{1,4}(?:,\d{0,4})?\}/.exec(pattern.slice(at, at + 12).join('')) ?? [];
      return counted === undefined ? null : [counted, at + counted.length];
    }
    case ')':
    case '|':
    case '*':
    case '+':
    case '?':
      return [character, at + 1];
    default:
      return [hexOf(character), at + 1];
  }
}

function translateEscape(pattern: readonly string[], at: number, flags: string, isInClass: boolean): Piece {
  const letter = pattern[at + 1] ?? '';
  const rest = pattern.slice(at + 1, at + 12).join('');
  if (/^[dDwW]/.test(letter)) return [`\\${letter}`, at + 2];
  if (letter === 's') return [isInClass ? WHITE_SPACE : `[${WHITE_SPACE}]`, at + 2];
  if (letter === 'S') return isInClass ? null : [`[^${WHITE_SPACE}]`, at + 2];
  if (letter === 'b') return [isInClass ? '\\x{8}' : '\\b', at + 2];
  if (letter === 'B') return isInClass ? null : ['\\B', at + 2];
  const control = CONTROLS[letter];
  if (control !== undefined) return [hex(control), at + 2];
  if (/^0(?!\d)/.test(rest)) return ['\\x{0}', at + 2];
  const [coded] = /^(?:x[\da-f]{2}|u[\da-f]{4})/i.exec(rest) ?? [];
  if (coded !== undefined) {
    const code = Number.parseInt(coded.slice(1), 16);
    return code >= 0xd800 && code <= 0xdfff ? null : [hex(code), at + 1 + coded.length];
  }
  const [category] = /^[pP]\{[A-Z][a-z]?\}/.exec(rest) ?? [];
  if (category !== undefined) return flags.includes('u') ? [`\\${category}`, at + 1 + category.length] : null;
  return /^[^\w]/.test(letter) ? [hexOf(letter), at + 2] : null;
}

function translateClass(pattern: readonly string[], at: number, flags: string): Piece {
  let next = at + 1;
  const isNegated = pattern[next] === '^';
  if (isNegated) next += 1;
  let items = '';
  let isAfterSet = false;
  while (next < pattern.length && pattern[next] !== ']') {
    const isSet = pattern[next] === '\\' && /[dDwWsSpP]/.test(pattern[next + 1] ?? '');
    const isRange = pattern[next] === '-' && items !== '' && pattern[next + 1] !== ']';
    // A range from or to a set of characters means something else in each engine.
    if (isRange && (isAfterSet || /^\\[dDwWsSpP]/.test(pattern.slice(next + 1, next + 3).join('')))) return null;
    const piece: Piece = isRange
      ? ['-', next + 1]
      : pattern[next] === '\\'
        ? translateEscape(pattern, next, flags, true)
        : [hexOf(pattern[next] ?? ''), next + 1];
    if (piece === null) return null;
    items += piece[0];
    next = piece[1];
    isAfterSet = isSet;
  }
  if (next >= pattern.length) return null;
  if (items === '') return isNegated ? [ANYTHING, next + 1] : null;
  return [`[${isNegated ? '^' : ''}${items}]`, next + 1];
}
