import { UNKNOWN } from '../core/tag-mentions.ts';

/** A text cut out of a script in pieces, and where each of the pieces begins: in the text, in the script. */
export interface MappedText {
  readonly text: string;
  readonly pieces: readonly (readonly [at: number, source: number])[];
  /** The UNKNOWNs that are the value of a variable. */
  readonly placeholders: readonly Placeholder[];
}

/** A place in a text where the value of a variable will stand, or another text if it has none. */
export interface Placeholder {
  readonly at: number;
  readonly variable: string;
  readonly defaultText: MappedText | null;
}

/** Where a character of a cut stands in the script. */
export function toSourceOffset({ pieces }: MappedText, index: number): number {
  const [at, source] = pieces.findLast(([begin]) => begin <= index) ?? [0, 0];
  return source + index - at;
}

/** The part of a cut from one index to another. */
export function sliceMappedText(
  { text, pieces, placeholders }: MappedText,
  from: number,
  to: number = text.length,
): MappedText {
  const slice = new MappedTextBuilder();
  for (const [index, [at, source]] of pieces.entries()) {
    const [start, end] = [Math.max(at, from), Math.min(pieces[index + 1]?.[0] ?? text.length, to)];
    if (start < end) slice.add(text.slice(start, end), source + start - at);
  }
  slice.placeholders.push(
    ...placeholders
      .filter(({ at }) => at >= from && at < to)
      .map((placeholder) => ({ ...placeholder, at: placeholder.at - from })),
  );
  return slice;
}

/** A cut with another one in the place of one of its characters. */
export function replaceCharacter(mapped: MappedText, at: number, value: MappedText): MappedText {
  const result = new MappedTextBuilder();
  for (const part of [sliceMappedText(mapped, 0, at), value, sliceMappedText(mapped, at + 1)]) result.append(part);
  return result;
}

/** The value of a variable or an array, perhaps with a plain text for want of one. */
const VARIABLE_EXPANSION = /^(\w+)(?:\[[^\]]*\])?(?:(:?-)([\w.-]*))?$/;

/** Gathers the characters of a text with their offsets. */
export class MappedTextBuilder implements MappedText {
  text = '';
  readonly pieces: [number, number][] = [];
  readonly placeholders: Placeholder[] = [];
  readonly substitutionRanges: [number, number][] = [];
  readonly expansions: string[] = [];

  /** A command substitution with these insides. */
  addSubstitution(script: string, start: number, end: number): void {
    this.substitutionRanges.push([start, end]);
    this.expansions.push(script.slice(start, end));
  }

  /** The expansion of what stands behind the `$`, or in the braces there. */
  addExpansion(expression: string, at: number, braces = 0): void {
    const [, variable, sign = '', text] = VARIABLE_EXPANSION.exec(expression) ?? [];
    if (variable !== undefined) {
      const source = at + 1 + braces + expression.length - (text?.length ?? 0);
      const defaultText = sign === '' ? null : { text: text ?? '', pieces: [[0, source] as const], placeholders: [] };
      this.placeholders.push({ at: this.text.length, variable, defaultText });
    }
    this.add(UNKNOWN, at);
  }

  /** All of another text. */
  append({ text, pieces, placeholders }: MappedText): void {
    for (const placeholder of placeholders)
      this.placeholders.push({ ...placeholder, at: this.text.length + placeholder.at });
    for (const [index, [at, source]] of pieces.entries()) this.add(text.slice(at, pieces[index + 1]?.[0]), source);
  }

  add(piece: string, at: number): void {
    if (piece === '') return;
    const [begin, source] = this.pieces.at(-1) ?? [0, Number.NaN];
    if (source + this.text.length - begin !== at) this.pieces.push([this.text.length, at]);
    this.text += piece;
  }
}
