/** A search of so many steps takes a small part of a second. */
const MAX_QUICK_STEPS = 1e8;

/**
 * True if a pattern surely matches a text of this length so quickly that it needs no thread. Each repetition multiplies the
 * steps by the length of the text, each choice doubles them; for nested repetitions and back references there is no bound.
 */
export function isSurelyQuick(pattern: string, textLength: number): boolean {
  const bare = pattern
    .replace(/\\[^1-9k]/g, '_')
    .replace(/\[[^\]]*\]/g, '_')
    .replace(/\(\?(?:[a-z]+\)|[:=!]|<[=!]|<\w+>)/g, '(');
  if (/\\|\)[*+?{]/.test(bare)) return false;
  const alternatives = bare.includes('(') ? [bare] : bare.split('|');
  const repetitions = Math.max(...alternatives.map((each) => each.match(/[*+{]/g)?.length ?? 0));
  const choices = bare.match(/[?|]/g)?.length ?? 0;
  return bare.length * 2 ** choices * (textLength + 1) ** (repetitions + 1) <= MAX_QUICK_STEPS;
}
