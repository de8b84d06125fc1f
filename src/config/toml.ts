import { parse, stringify } from 'smol-toml';

/** Finds the line of a key in a config file, counted from 1; `path` names the tables on the way to it. */
export type FindKeyLine = (...path: readonly string[]) => number;

/** Texts that may complete a line to TOML: nothing, or the ends of inline tables. */
const CLOSERS = ['', '\n}', '\n}}', '\n}}}'];

/** The characters that are parsed to find lines: a long list is parsed again with each of its lines. */
const MAX_PARSED = 2_000_000;

/** Keys below tables of tables have no line of their own. */
const MAX_KEY_DEPTH = 3;

/**
 * Finds the line of every key in a TOML text. The parser does not report positions, so it gets the text below the last
 * header in growing pieces, line by line: a key that is new in a piece began on the first line that was not part of the
 * last piece that could be parsed.
 */
export function locateConfigKeys(text: string): FindKeyLine {
  let lineByPath: ReadonlyMap<string, number> | undefined;
  return (...path) => {
    lineByPath ??= mapKeyLines(text);
    return lineByPath.get(JSON.stringify(path)) ?? 1;
  };
}

function mapKeyLines(text: string): ReadonlyMap<string, number> {
  const lineByPath = new Map<string, number>();
  let header = '';
  let pending = '';
  let startLine = 1;
  let parsedChars = 0;
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (pending === '' && line.trimStart().startsWith('[')) header = `${line}\n`;
    else pending += `${line}\n`;
    parsedChars += header.length + pending.length;
    if (parsedChars > MAX_PARSED) break;
    const parsed = parseIncompleteToml(header + pending);
    if (parsed === undefined) continue;
    for (const path of keyPaths(parsed.table)) if (!lineByPath.has(path)) lineByPath.set(path, startLine);
    startLine = index + 2;
    if (parsed.isComplete) pending = '';
  }
  return lineByPath;
}

function parseIncompleteToml(text: string): { readonly table: unknown; readonly isComplete: boolean } | undefined {
  for (const closer of CLOSERS) {
    try {
      return { table: parse(text + closer), isComplete: closer === '' };
    } catch {}
  }
  return undefined;
}

/** The paths of all keys of a table and of the tables in it. Items of lists have no keys. */
function* keyPaths(value: unknown, prefix: readonly string[] = []): Generator<string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Date) return;
  if (prefix.length >= MAX_KEY_DEPTH) return;
  for (const [key, inner] of Object.entries(value)) {
    const path = [...prefix, key];
    yield JSON.stringify(path);
    yield* keyPaths(inner, path);
  }
}

/** True if a parsed value has tables or lists in more than this many others. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levels && level.length > 0; depth++)
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  return level.length > 0;
}

/** Formats a value as it is written in the config file, in one line. */
export function formatTomlValue(value: unknown): string {
  const line = stringify({ value }).trim();
  if (line.startsWith('value = ')) return line.slice('value = '.length);
  return line.startsWith('[[') ? 'a list of tables' : 'a table';
}
