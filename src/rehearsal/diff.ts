/** A line of a difference: in both, only expected, or only there. */
export interface Line {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** More would take too long to compare; then everything is told to be different. */
const MOST_CELLS = 4_000_000;

/** The shortest way to tell how one list differs from another. */
export function diff(expected: readonly string[], actual: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < expected.length && start < actual.length && expected[start] === actual[start]) start += 1;
  let end = 0;
  const left = Math.min(expected.length, actual.length) - start;
  while (end < left && expected.at(-1 - end) === actual.at(-1 - end)) end += 1;
  const middle = between(expected.slice(start, expected.length - end), actual.slice(start, actual.length - end));
  return [...same(expected.slice(0, start)), ...middle, ...same(end === 0 ? [] : expected.slice(-end))];
}

const same = (items: readonly string[]): readonly Line[] => items.map((text) => ({ sign: ' ', text }));

/** By the longest list that is part of both. */
function between(a: readonly string[], b: readonly string[]): readonly Line[] {
  const [gone, come] = [a.map((text): Line => ({ sign: '-', text })), b.map((text): Line => ({ sign: '+', text }))];
  if (a.length === 0 || b.length === 0 || a.length * b.length > MOST_CELLS) return [...gone, ...come];
  const width = b.length + 1;
  const longest = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => longest[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      longest[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) lines.push({ sign: ' ', text: a[i] ?? '' });
    if (a[i] === b[j]) [i, j] = [i + 1, j + 1];
    else if (at(i + 1, j) >= at(i, j + 1)) lines.push(gone[i++] as Line);
    else lines.push(come[j++] as Line);
  }
  return [...lines, ...gone.slice(i), ...come.slice(j)];
}
