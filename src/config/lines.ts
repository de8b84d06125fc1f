import { parse } from 'smol-toml';

/** Where a key stands in a config file, counted from 1; `path` names the tables on the way to it. */
export type LineOf = (...path: readonly string[]) => number;

/** What may be missing after a line for it to be TOML: nothing, or the end of the inline tables it stands in. */
const ENDS = ['', '\n}', '\n}}', '\n}}}'];

/**
 * Finds the line of every key in a text that is TOML. The parser knows best where something ends but does not tell: so
 * it is given what stands under the last header line by line, and whatever is new when it first understands began on the
 * first line that it had not understood before.
 */
export function linesOf(text: string): LineOf {
  const found = new Map<string, number>();
  let header = '';
  let open = '';
  let from = 1;
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (open === '' && line.trimStart().startsWith('[')) header = `${line}\n`;
    else open += `${line}\n`;
    const read = understood(header + open);
    if (read === undefined) continue;
    for (const path of pathsIn(read.table)) if (!found.has(path)) found.set(path, from);
    from = index + 2;
    if (read.isWhole) open = '';
  }
  return (...path) => found.get(JSON.stringify(path)) ?? 1;
}

function understood(text: string): { readonly table: unknown; readonly isWhole: boolean } | undefined {
  for (const end of ENDS) {
    try {
      return { table: parse(text + end), isWhole: end === '' };
    } catch {}
  }
  return undefined;
}

/** Every key of a table and of the tables in it, by the way to it. What is in a list has no name of its own. */
function* pathsIn(value: unknown, way: readonly string[] = []): Generator<string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return;
  for (const [key, inner] of Object.entries(value)) {
    const path = [...way, key];
    yield JSON.stringify(path);
    yield* pathsIn(inner, path);
  }
}
