import { UNKNOWN } from '../mentions.ts';
import { type Cut, Cutter, sliced, sourceOf } from './cut.ts';

const DIRECTIVE = /%%|%[-+ #0-9.*]*[a-zA-Z]|\\[nrt]/g;

/** What `printf` makes of its format and its values: the format is gone through again while there are values left. */
export function formatted(format: Cut, values: readonly Cut[]): Cut {
  const text = new Cutter();
  // What is unknown may be several values, or none.
  const isCounted = values.every((value) => !value.text.includes(UNKNOWN));
  let left = [...values];
  let before: number;
  do {
    before = left.length;
    left = filledIn(format, left, text, isCounted ? '' : UNKNOWN);
  } while (left.length > 0 && left.length < before);
  return text;
}

/** Adds the format with its values, or something else for want of them; gives those that it has no place for. */
function filledIn(format: Cut, values: readonly Cut[], text: Cutter, otherwise: string): Cut[] {
  const left = [...values];
  let from = 0;
  for (const { 0: found, index } of format.text.matchAll(DIRECTIVE)) {
    text.append(sliced(format, from, index));
    from = index + found.length;
    const source = sourceOf(format, index);
    if (found === '%%') text.add('%', source);
    // A line break is a blank as far as tags go.
    else if (found.startsWith('\\')) text.add(' ', source);
    else text.append(left.shift() ?? { text: otherwise, pieces: [[0, source]], holes: [] });
  }
  text.append(sliced(format, from));
  return left;
}
