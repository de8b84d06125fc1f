import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';

/*
 * Paths as the permission rules of Claude Code know them: patterns of .gitignore, matched without regard to case. A pattern
 * that matches a folder matches everything in it. Patterns cannot be negated here, and neither can character classes, so
 * "everything except" is spelled out character by character.
 */

/** The pattern of one path. Characters with a meaning in rules match any one character. */
export const patternOf = (path: string): string =>
  path
    .replace(/^([A-Za-z]):/, (_, drive: string) => `/${drive.toLowerCase()}`)
    .split(sep)
    .join('/')
    .replace(/[^\p{L}\p{M}\p{N}/._-]/gu, (special) => '?'.repeat(special.length));

/** The patterns of everything in a folder except some paths in it; none if the folder itself is excepted. */
export function patternsOfAllExcept(folder: string, excepted: readonly string[]): readonly string[] {
  const paths = excepted.map((path) => relative(folder, path).split(sep));
  return paths.some(([first]) => first === '') ? [] : patternsExcept(patternOf(folder), paths);
}

function patternsExcept(folder: string, paths: readonly (readonly string[])[]): readonly string[] {
  const names = [...new Set(paths.flatMap(([name]) => name ?? []))];
  const inner = names.flatMap((name) => {
    const rests = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
    return rests.some((rest) => rest.length === 0) ? [] : patternsExcept(`${folder}/${patternOf(name)}`, rests);
  });
  return [...namesExcept('', names).map((name) => `${folder}/${name}`), ...inner];
}

/** The patterns of all names that begin with a text, except some. */
function namesExcept(start: string, names: readonly string[]): readonly string[] {
  const rests = names.map((name) => name.slice(start.length).toLowerCase());
  const next = [...new Set(rests.flatMap((rest) => rest[0] ?? []))];
  return [
    ...(start === '' || rests.includes('') ? [] : [patternOf(start)]),
    `${patternOf(start)}[${charactersExcept(next)}]*`,
    ...next.flatMap((character) => {
      const longer = start + character;
      return namesExcept(
        longer,
        names.filter((name) => name.toLowerCase().startsWith(longer)),
      );
    }),
  ];
}

/** The ranges of all printable characters except some, in both cases, and except the slash and the comma. */
function charactersExcept(characters: readonly string[]): string {
  const codes = ['/', ',', ...characters.flatMap((each) => [each.toLowerCase(), each.toUpperCase()])].map((each) =>
    each.charCodeAt(0),
  );
  let ranges = '';
  let from = '!'.charCodeAt(0);
  for (const code of [...new Set(codes)].sort((a, b) => a - b)) {
    ranges += rangeOf(from, code - 1);
    from = code + 1;
  }
  return ranges + rangeOf(from, 0xffff);
}

function rangeOf(from: number, to: number): string {
  if (from > to) return '';
  const [first, last] = [String.fromCharCode(from), String.fromCharCode(to)];
  return from === to ? first : `${first}-${last}`;
}

/** A path as it was named, and without links: Claude Code looks at both names of what a tool writes to. */
export function spellings(path: string): readonly string[] {
  try {
    const resolved = realpathSync(path);
    return resolved === path ? [path] : [path, resolved];
  } catch {
    return [path];
  }
}
