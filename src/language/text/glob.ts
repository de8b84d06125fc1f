/** True if a text has a wildcard: `*`, `?` or `**`. */
export const hasWildcard = (text: string): boolean => /[*?]/.test(text);

/**
 * True if a path matches a pattern: `*` and `?` stand for characters of one name, `**` for any number of names. No
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

const matchesName = (pattern: string, name: string): boolean =>
  hasWildcard(pattern) ? !isDots(name) && matchesWildcards(pattern, name) : pattern === name;

/** Matches a whole text: `*` stands for any characters, `?` for one. Only the last `*` is ever tried again, as above. */
export function matchesWildcards(pattern: string, text: string): boolean {
  let [at, character, starAt, starCharacter] = [0, 0, -1, 0];
  while (character < text.length) {
    const sign = pattern[at];
    if (sign === '*') {
      starAt = at++;
      starCharacter = character;
    } else if (sign !== undefined && (sign === '?' || sign === text[character])) {
      at += 1;
      character += 1;
    } else if (starAt >= 0) {
      at = starAt + 1;
      starCharacter += 1;
      character = starCharacter;
    } else return false;
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
