import { UNKNOWN } from '../mentions.ts';

/** A text cut out of a script in pieces, and where each of the pieces begins: in the text, in the script. */
export interface Cut {
  readonly text: string;
  readonly pieces: readonly (readonly [at: number, source: number])[];
  /** The UNKNOWNs that are the value of a variable. */
  readonly holes: readonly Hole[];
}

/** A place in a text where the value of a variable will stand, or another text if it has none. */
export interface Hole {
  readonly at: number;
  readonly variable: string;
  readonly otherwise: Cut | null;
}

/** Where a character of a cut stands in the script. */
export function sourceOf({ pieces }: Cut, index: number): number {
  const [at, source] = pieces.findLast(([begin]) => begin <= index) ?? [0, 0];
  return source + index - at;
}

/** The part of a cut from one index to another. */
export function sliced({ text, pieces, holes }: Cut, from: number, to: number = text.length): Cut {
  const part = new Cutter();
  for (const [index, [at, source]] of pieces.entries()) {
    const [start, end] = [Math.max(at, from), Math.min(pieces[index + 1]?.[0] ?? text.length, to)];
    if (start < end) part.add(text.slice(start, end), source + start - at);
  }
  part.holes.push(...holes.filter(({ at }) => at >= from && at < to).map((hole) => ({ ...hole, at: hole.at - from })));
  return part;
}

/** A cut with another one in the place of one of its characters. */
export function replaced(cut: Cut, at: number, value: Cut): Cut {
  const whole = new Cutter();
  for (const part of [sliced(cut, 0, at), value, sliced(cut, at + 1)]) whole.append(part);
  return whole;
}

/** The value of a variable or an array, perhaps with a plain text for want of one. */
const VALUE = /^(\w+)(?:\[[^\]]*\])?(?:(:?-)([\w.-]*))?$/;

/** Gathers the characters of a text with their offsets. */
export class Cutter implements Cut {
  text = '';
  readonly pieces: [number, number][] = [];
  readonly holes: Hole[] = [];
  readonly inner: [number, number][] = [];
  readonly asks: string[] = [];

  /** A command substitution with these insides. */
  ask(script: string, start: number, end: number): void {
    this.inner.push([start, end]);
    this.asks.push(script.slice(start, end));
  }

  /** The expansion of what stands behind the `$`, or in the braces there. */
  expand(expression: string, at: number, braces = 0): void {
    const [, variable, sign = '', text] = VALUE.exec(expression) ?? [];
    if (variable !== undefined) {
      const source = at + 1 + braces + expression.length - (text?.length ?? 0);
      const otherwise = sign === '' ? null : { text: text ?? '', pieces: [[0, source] as const], holes: [] };
      this.holes.push({ at: this.text.length, variable, otherwise });
    }
    this.add(UNKNOWN, at);
  }

  /** All of another text. */
  append({ text, pieces, holes }: Cut): void {
    for (const hole of holes) this.holes.push({ ...hole, at: this.text.length + hole.at });
    for (const [index, [at, source]] of pieces.entries()) this.add(text.slice(at, pieces[index + 1]?.[0]), source);
  }

  add(piece: string, at: number): void {
    if (piece === '') return;
    const [begin, source] = this.pieces.at(-1) ?? [0, Number.NaN];
    if (source + this.text.length - begin !== at) this.pieces.push([this.text.length, at]);
    this.text += piece;
  }
}
