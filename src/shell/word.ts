import { UNKNOWN } from '../core/tag-mentions.ts';
import { type MappedText, MappedTextBuilder } from './mapped-text.ts';

/** One word with its quotes removed; expansions have become UNKNOWN. */
export interface Word extends MappedText {
  readonly kind: 'word';
  readonly at: number;
  /** Whether it was written without quotes and expansions, as reserved words are. */
  readonly plain: boolean;
  /** The insides of its command substitutions, as offsets of the script. */
  readonly substitutionRanges: readonly (readonly [start: number, end: number])[];
  /** What its expansions ask for: names of variables, commands. */
  readonly expansions: readonly string[];
}

/** Characters that mean nothing special, by themselves and between double quotes. */
const PLAIN = /[^ \t\r\n;&|<>()'"\\$`]+/y;
const QUOTED = /[^"\\$`]+/y;

/** Deeper than anyone nests quotes and brackets, and no danger to our own stack. */
const DEEPEST = 40;

/** Reads the words of a script. Every method gives undefined where the script ends in the middle of something. */
export class WordReader {
  private readonly script: string;
  private depth = 0;

  constructor(script: string) {
    this.script = script;
  }

  word(start: number): { readonly word: Word; readonly end: number } | undefined {
    const { script } = this;
    const cutter = new MappedTextBuilder();
    let at = start;
    let plain = true;
    while (at < script.length) {
      const ordinary = run(PLAIN, script, at);
      if (ordinary !== '') {
        cutter.add(ordinary, at);
        at += ordinary.length;
        continue;
      }
      const char = script[at] ?? '';
      const list = char === '(' && script[at - 1] === '=';
      const process = (char === '<' || char === '>') && script[at + 1] === '(';
      if (/[ \t\r\n;&|<>()]/.test(char) && !list && !process) break;
      plain = false;
      const end = list || process ? this.bracketed(at, list ? at : at + 1, cutter) : this.quoted(at, cutter);
      if (end === undefined) return undefined;
      at = end;
    }
    const { text, pieces, placeholders, substitutionRanges, expansions } = cutter;
    return {
      word: { kind: 'word', text, pieces, placeholders, substitutionRanges, expansions, at: start, plain },
      end: at,
    };
  }

  /** Adds the text up to the closing quote, which is stepped over; without a quote, up to `limit`. */
  text(from: number, quote: '"' | '', limit: number, cutter: MappedTextBuilder): number | undefined {
    const { script } = this;
    let at = from;
    while (at < limit) {
      const ordinary = run(QUOTED, script, at).slice(0, limit - at);
      cutter.add(ordinary, at);
      at += ordinary.length;
      const char = at < limit ? script[at] : undefined;
      if (char === undefined) break;
      if (char === quote) return at + 1;
      if (char === '\\' && /["$`\\\n]/.test(script[at + 1] ?? '')) {
        if (script[at + 1] !== '\n') cutter.add(script[at + 1] ?? '', at + 1);
        at += 2;
      } else if (char === '$' || char === '`') {
        const end = this.expansion(at, cutter);
        if (end === undefined) return undefined;
        at = end;
      } else {
        cutter.add(char, at);
        at += 1;
      }
    }
    return quote === '' ? at : undefined;
  }

  /** The offset behind the bracket that closes the one here; quotes and brackets within are stepped over. */
  closing(start: number, open: string, close: string): number | undefined {
    if (++this.depth > DEEPEST) return undefined;
    const { script } = this;
    let pending = 0;
    for (let at: number | undefined = start; at !== undefined && at < script.length; ) {
      const char: string | undefined = script[at];
      if (char === '"') at = this.text(at + 1, '"', script.length, new MappedTextBuilder());
      else if (char === "'" && open === '(') at = after(script, "'", at + 1);
      else {
        if (char === open) pending += 1;
        if (char === close && --pending === 0) {
          this.depth -= 1;
          return at + 1;
        }
        at += char === '\\' ? 2 : 1;
      }
    }
    return undefined;
  }

  /** One quoted stretch, escaped character or expansion. */
  private quoted(at: number, cutter: MappedTextBuilder): number | undefined {
    const { script } = this;
    if (script[at] === '"') return this.text(at + 1, '"', script.length, cutter);
    if (script[at] === '\\') {
      if (script[at + 1] !== '\n') cutter.add(script[at + 1] ?? '', at + 1);
      return at + 2;
    }
    if (script[at] !== "'" && !script.startsWith("$'", at)) return this.expansion(at, cutter);
    const from = script.indexOf("'", at) + 1;
    const end = after(script, "'", from);
    if (end !== undefined) cutter.add(script.slice(from, end - 1), from);
    return end;
  }

  /** Steps over `$x`, `${…}`, `$(…)`, `$((…))` or `` `…` ``; a lone `$` is a character. */
  private expansion(at: number, cutter: MappedTextBuilder): number | undefined {
    const { script } = this;
    if (script[at] === '`') {
      const end = after(script, '`', at + 1);
      if (end === undefined) return undefined;
      cutter.addSubstitution(script, at + 1, end - 1);
      cutter.add(UNKNOWN, at);
      return end;
    }
    const next = script[at + 1];
    if (next === '(') return this.bracketed(at, at + 1, cutter);
    const [name = ''] = /^(?:\d|\{?#?(?:\w+|[@*#?$!-]))/.exec(script.slice(at + 1, at + 200)) ?? [];
    if (name !== '') cutter.expansions.push(name.replace(/^\{?#?/, ''));
    if (next === '{') {
      const end = this.closing(at + 1, '{', '}');
      if (end !== undefined) cutter.addExpansion(script.slice(at + 2, end - 1), at, 1);
      return end;
    }
    if (name === '') cutter.add('$', at);
    else cutter.addExpansion(name, at);
    return at + 1 + name.length;
  }

  private bracketed(at: number, open: number, cutter: MappedTextBuilder): number | undefined {
    const end = this.closing(open, '(', ')');
    if (end !== undefined && open > at && this.script[open + 1] !== '(')
      cutter.addSubstitution(this.script, open + 1, end - 1);
    cutter.add(UNKNOWN, at);
    return end;
  }
}

/** The longest stretch from here that fits. */
function run(fits: RegExp, text: string, from: number): string {
  fits.lastIndex = from;
  return fits.exec(text)?.[0] ?? '';
}

function after(script: string, mark: string, from: number): number | undefined {
  const found = script.indexOf(mark, from);
  return found === -1 ? undefined : found + 1;
}
