import { parse, stringify } from 'smol-toml';

/** Where a key stands in a config file, counted from 1; `path` names the tables on the way to it. */
export type FindKeyLine = (...path: readonly string[]) => number;

/** What may be missing after a line for it to be TOML: nothing, or the end of the inline tables it stands in. */
const CLOSERS = ['', '\n}', '\n}}', '\n}}}'];

/**
 * Finds the line of every key in a text that is TOML. The parser knows best where something ends but does not tell: so
 * it is given what stands under the last header line by line, and whatever is new when it first understands began on the
 * first line that it had not understood before.
 */
export function locateConfigKeys(text: string): FindKeyLine {
  const lineByPath = new Map<string, number>();
  let header = '';
  let pending = '';
  let startLine = 1;
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (pending === '' && line.trimStart().startsWith('[')) header = `${line}\n`;
    else pending += `${line}\n`;
    const parsed = parseIncompleteToml(header + pending);
    if (parsed === undefined) continue;
    for (const path of keyPaths(parsed.table)) if (!lineByPath.has(path)) lineByPath.set(path, startLine);
    startLine = index + 2;
    if (parsed.isComplete) pending = '';
  }
  return (...path) => lineByPath.get(JSON.stringify(path)) ?? 1;
}

function parseIncompleteToml(text: string): { readonly table: unknown; readonly isComplete: boolean } | undefined {
  for (const closer of CLOSERS) {
    try {
      return { table: parse(text + closer), isComplete: closer === '' };
    } catch {}
  }
  return undefined;
}

/** Every key of a table and of the tables in it, by the way to it. What is in a list has no name of its own. */
function* keyPaths(value: unknown, prefix: readonly string[] = []): Generator<string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return;
  for (const [key, inner] of Object.entries(value)) {
    const path = [...prefix, key];
    yield JSON.stringify(path);
    yield* keyPaths(inner, path);
  }
}

/** A value as it is written in the config file, in one line. */
export function formatTomlValue(value: unknown): string {
  const line = stringify({ value }).trim();
  if (line.startsWith('value = ')) return line.slice('value = '.length);
  return line.startsWith('[[') ? 'a list of tables' : 'a table';
}
