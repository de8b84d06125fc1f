import { stem } from '../core/state-names.ts';
import { isForeignLanguage } from '../graph/english.ts';

/**
 * Says whether a prompt speaks of a state. Its file name always does. Its name alone does if nobody would take it for an
 * ordinary word (REVIEW, fix_bug), or if it is written as a name: in quotes or code, in a tag, behind "go to".
 * A "plan B" does not speak of B.md, nor does "review the code" of REVIEW.md.
 */
export function detectStateMentions(prompt: string): (file: string) => boolean {
  let isGenerous: boolean | undefined;
  return (file) => {
    if (wordsAt(prompt, file).next().done === false) return true;
    const name = stem(file);
    let looked = 0;
    for (const at of wordsAt(prompt, name)) {
      if (isUnmistakable(name) || ++looked > MAX_LOOKS || isWrittenAsName(prompt, at, name)) return true;
      // The words that make a name of a word are known in English only.
      isGenerous ??= prompt.includes('<') && isForeignLanguage(prompt);
      if (isGenerous) return true;
    }
    return false;
  };
}

/** A word that stands everywhere is not looked at everywhere. */
const MAX_LOOKS = 200;

/** Capitals, dashes or dots within a word, letters beside digits; a script without capitals tells nothing. */
const isUnmistakable = (name: string): boolean =>
  /[_.-]|\p{L}\d|\d\p{L}|.\p{Lu}/u.test(name) || !/\p{Lu}|\p{Ll}/u.test(name.replace(/\d/g, 'a'));

/** Where a word stands by itself. Languages that put no blanks between words are no hindrance. */
function* wordsAt(text: string, word: string): Generator<number> {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const around = `${text[at - 1] ?? ' '} ${text[at + word.length] ?? ' '}`;
    if (!/[\p{Lu}\p{Ll}\p{Lt}\p{Lm}\p{N}_]/u.test(around)) yield at;
  }
}

const MARKS = '["\'`*“”‘’«»]';
const OTHERS = `(?:${MARKS}*[\\w.-]+${MARKS}*\\s*(?:,|/|\\bor\\b|\\band\\b)\\s*){0,6}`;
const MOVES = 'go|goes|move|proceed|continue|jump|switch|return|transition|advance|pass|hand|answer|respond|reply';
const SAID = '(?::|is\\b|are\\b|comes\\b|will be\\b)';
/** "go to B", "continue with A or B", "state B", "one of A and B", "the next is B", "→ B", and what stands in a tag. */
const BEFORE = new RegExp(
  '(?:[=>→]\\s*|' +
    `\\b(?:(?:goto|reset|call|function|fork|states?|steps?|one of)\\b\\s*${SAID}?|next\\b\\s*${SAID}|(?:${MOVES})(?:\\s+\\w+)?\\s+(?:to|with|at|in|into)\\b)` +
    `\\s*(?:the\\s+)?(?:states?\\s+|steps?\\s+)?${OTHERS})${MARKS}*$`,
  'iu',
);
/** "B comes next", "the B state". */
const AFTER = new RegExp(`^${MARKS}*\\s+(?:state|step|next|is next|comes next|follows)\\b`, 'iu');
/** "- B: when the tests fail". */
const BULLET = new RegExp(`^\\s*(?:[-*+]|\\d+[.)])?\\s*${MARKS}*$`, 'u');
const LISTED = new RegExp(`^${MARKS}*\\s*(?::|[–—→]|-+>|-\\s|$)`, 'u');
/** "If the tests fail: B", "else B". */
const COLON = /:\s*$/;
const ELSE = /\b(?:then|else|otherwise)\s+$/i;
const LAST = new RegExp(`^${MARKS}*\\s*(?:[.,;]|$)`, 'u');
/** "go to review the code": what has an object is a verb. */
const OBJECT = /^\s+(?:the|an?|this|that|these|your|all|its?|each|every|what|how|whether)\b/iu;

/** As much as a phrase takes. */
const NEAR = 80;

/** Whether this very word is written as the name of something. */
function isWrittenAsName(text: string, at: number, name: string): boolean {
  const end = at + name.length;
  const before =
    text
      .slice(Math.max(0, at - NEAR), at)
      .split(PARAGRAPH)
      .at(-1) ?? '';
  const after = text.slice(end, end + NEAR).split(PARAGRAPH, 1)[0] ?? '';
  if (QUOTES.some(([open, close]) => before.endsWith(open) && after.startsWith(close))) return true;
  if (BULLET.test(before.split('\n').at(-1) ?? '') && LISTED.test(after.split('\n', 1)[0] ?? '')) return true;
  if (LAST.test(after) && (COLON.test(before) || (name.length === 1 && ELSE.test(before)))) return true;
  if (name.length > 1 && OBJECT.test(after)) return false;
  // "A state" at the beginning of a sentence is any state.
  return BEFORE.test(before) || (name !== 'A' && AFTER.test(after));
}

const PARAGRAPH = /\n[ \t\r]*\n/;

const QUOTES = [
  ['`', '`'],
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['‘', '’'],
  ['«', '»'],
  ['**', '**'],
  ['[', ']'],
  ['| ', ' |'],
] as const;
