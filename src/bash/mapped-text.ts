/** A text made of pieces of a script, and the offset at which each piece begins: in the text, in the script. */
export interface MappedText {
  readonly text: string;
  readonly pieces: readonly (readonly [at: number, source: number])[];
  /** Those of its UNKNOWNs that are the value of a variable. */
  readonly placeholders: readonly Placeholder[];
}

/** A character of a text that stands for the value of a variable, or for the default if it has none. */
export interface Placeholder {
  readonly at: number;
  readonly variable: string;
  readonly defaultText: MappedText | null;
}

/** Finds the offset in the script of a character of the text. */
export function toSourceOffset({ pieces }: MappedText, index: number): number {
  const [at, source] = pieces.findLast(([begin]) => begin <= index) ?? [0, 0];
  return source + index - at;
}

/** Cuts out the part from one index to another. */
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

/** Puts another text in the place of one character. */
export function replaceCharacter(mapped: MappedText, at: number, value: MappedText): MappedText {
  const result = new MappedTextBuilder();
  for (const part of [sliceMappedText(mapped, 0, at), value, sliceMappedText(mapped, at + 1)]) result.append(part);
  return result;
}

/** Collects the pieces of a text. */
export class MappedTextBuilder implements MappedText {
  text = '';
  readonly pieces: [number, number][] = [];
  readonly placeholders: Placeholder[] = [];

  /** Adds all of another text. */
  append({ text, pieces, placeholders }: MappedText): void {
    for (const placeholder of placeholders)
      this.placeholders.push({ ...placeholder, at: this.text.length + placeholder.at });
    for (const [index, [at, source]] of pieces.entries()) this.add(text.slice(at, pieces[index + 1]?.[0]), source);
  }

  /** Adds a piece that is at this offset of the script. */
  add(piece: string, at: number): void {
    if (piece === '') return;
    const [begin, source] = this.pieces.at(-1) ?? [0, Number.NaN];
    if (source + this.text.length - begin !== at) this.pieces.push([this.text.length, at]);
    this.text += piece;
  }
}
