import { UNKNOWN } from '../core/tag-mentions.ts';
import { type MappedText, MappedTextBuilder, sliceMappedText, toSourceOffset } from './mapped-text.ts';

const FORMAT_DIRECTIVE = /%%|%[-+ #0-9.*]*[a-zA-Z]|\\[nrt]/g;

/** What `printf` makes of its format and its values: the format is gone through again while there are values left. */
export function formatPrintf(format: MappedText, values: readonly MappedText[]): MappedText {
  const text = new MappedTextBuilder();
  // What is unknown may be several values, or none.
  const isCountKnown = values.every((value) => !value.text.includes(UNKNOWN));
  let remaining = [...values];
  let before: number;
  do {
    before = remaining.length;
    remaining = applyFormat(format, remaining, text, isCountKnown ? '' : UNKNOWN);
  } while (remaining.length > 0 && remaining.length < before);
  return text;
}

/** Adds the format with its values, or something else for want of them; gives those that it has no place for. */
function applyFormat(
  format: MappedText,
  values: readonly MappedText[],
  text: MappedTextBuilder,
  missingValue: string,
): MappedText[] {
  const remaining = [...values];
  let from = 0;
  for (const { 0: found, index } of format.text.matchAll(FORMAT_DIRECTIVE)) {
    text.append(sliceMappedText(format, from, index));
    from = index + found.length;
    const source = toSourceOffset(format, index);
    if (found === '%%') text.add('%', source);
    // A line break is a blank as far as tags go.
    else if (found.startsWith('\\')) text.add(' ', source);
    else text.append(remaining.shift() ?? { text: missingValue, pieces: [[0, source]], placeholders: [] });
  }
  text.append(sliceMappedText(format, from));
  return remaining;
}
