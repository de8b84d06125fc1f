/** Whether a text has a wildcard: `*`, `?` or `**`. */
export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

/**
 * Whether a path matches a pattern: `*` and `?` stand for characters of one name, `**` for any number of names. No
 * wildcard stands for `.` or `..`, which lead elsewhere.
 */
export function matchesGlob(pattern: string, path: string): boolean {
  return matchNames(namesOf(pattern), namesOf(path));
}

const namesOf = (path: string): readonly string[] => path.replaceAll('\\', '/').replace(/\/+$/, '').split(/\/+/);

/** Walks over the path once per `**`: only the last one is ever tried again, so that no pattern takes exponential time. */
function matchNames(pattern: readonly string[], names: readonly string[]): boolean {
  let [at, name, starAt, starName] = [0, 0, -1, 0];
  while (name < names.length) {
    const part = pattern[at];
    if (part === '**') {
      starAt = at++;
      starName = name;
    } else if (part !== undefined && matchesName(part, names[name] ?? '')) {
      at += 1;
      name += 1;
    } else if (starAt >= 0 && !isDots(names[starName] ?? '')) {
      at = starAt + 1;
      starName += 1;
      name = starName;
    } else return false;
  }
  while (pattern[at] === '**') at += 1;
  return at === pattern.length;
}

const isDots = (name: string): boolean => name === '.' || name === '..';

function matchesName(pattern: string, name: string): boolean {
  if (!hasWildcard(pattern)) return pattern === name;
  if (isDots(name)) return false;
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(name);
}
