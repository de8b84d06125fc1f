import type { Region } from '../core/markup.ts';
import { stripTags } from '../core/tag-mentions.ts';
import { TAG_NAMES } from '../core/transitions/index.ts';
import { isEnglish } from './english.ts';
import { findCodeBlocks } from './quoted-tags.ts';

/**
 * Says of the tag at an offset whether a prompt asks its agent for it, or only speaks of it. Only words of the same sentence
 * count, or those that introduce a list. Where the way on need not be said at all, a tag must be asked for in words.
 */
export function detectRequestedTags(prompt: string, isImplicit: boolean): (offset: number) => boolean {
  const mustAsk = isImplicit && isEnglish(stripTags(prompt));
  const samples = mustAsk ? samplesIn(prompt) : [];
  return (offset) => {
    const sample = samples.find(({ start, end }) => start < offset && offset < end);
    if (sample !== undefined) return ASKS_IN_WORDS.test(wordsBefore(prompt, sample.start));
    const before = wordsBefore(prompt, offset);
    const after = wordsAfter(prompt, offset);
    const isDisclaimed =
      WARNING.test(before) ||
      PAST.test(before) ||
      OTHERS.test(before) ||
      GONE.test(after) ||
      NOT_YOURS.test(after) ||
      LINES_INTO_FILE.test(before) ||
      (WRITE.test(before) && INTO_FILE.test(after));
    return !isDisclaimed && (!mustAsk || ASKS.test(before));
  };
}

/** Blocks of code that show what a file looks like: other elements stand beside the tags. */
const samplesIn = (prompt: string): readonly Region[] =>
  findCodeBlocks(prompt).filter(({ start, end }) => ELEMENT.test(prompt.slice(start, end)));

const ELEMENT = new RegExp(`<(?!(?:${TAG_NAMES.join('|')})\\b)[a-z][\\w-]*[\\s/>]`, 'i');

/** As much as a sentence takes. */
const NEAR = 400;
const SENTENCE = /(?<=[.!?])\s+|\n[ \t\r]*\n|\n[ \t]*(?:[-*+]|\d+[.)])[ \t]/;

function wordsBefore(prompt: string, offset: number): string {
  const parts = stripTags(prompt.slice(Math.max(0, offset - NEAR), offset)).split(SENTENCE);
  const sentence = parts.at(-1) ?? '';
  if (/\p{L}/u.test(sentence)) return sentence;
  const introduction = parts.findLast((part) => /\p{L}/u.test(part)) ?? '';
  return introduction.trimEnd().endsWith(':') ? introduction : sentence;
}

const FIRST_TAG = /^<([a-z]+)\b[^<>]*(?:\/>|>[^<]*<\/\1\s*>)/i;

const wordsAfter = (prompt: string, offset: number): string =>
  stripTags(prompt.slice(offset, offset + NEAR).replace(FIRST_TAG, '')).split(SENTENCE, 1)[0] ?? '';

const MARKS = '[\\s`"\'*(]*';
const FILE = '(?:the (?:end of )?(?:the )?(?:file )?)?[`"\'*]?[\\w./-]{0,60}\\.\\w{1,5}\\b';
const WRITES = '\\b(?:write|put|save|store|append|copy|paste|add)\\b';

/** "Do not answer with …" */
const WARNING = new RegExp(
  `(?:\\b(?:(?:do|must|should|may) not|don['’]t|never|instead of|rather than)|(?:\\bbut|\\band|[,(])\\s*not)\\b\\s*(?:(?:just|yet|\\w+ly)\\s+)?(?:(?:answer|respond|reply|end|say|emit|use|write|print|output)(?:ing)?\\s+)?(?:with\\s+)?(?:an?|the)?${MARKS}$`,
  'i',
);
/** "This was … once." */
const PAST = new RegExp(`\\b(?:was|were|used to (?:be|say)|formerly)${MARKS}$`, 'i');
/** "… by a later step, which says …" */
const OTHERS = new RegExp(
  `\\b(?:step|state|script|worker|caller|callee|parent|which|who)\\b[^,.;:!?]{0,40}\\b(?:says|prints|answers|replies|responds|emits|outputs|sends|ends with)(?:\\s+(?:with|in|by|an?|the|its|only|just))*${MARKS}$`,
  'i',
);
/** "… is gone" */
const GONE =
  /^[`"'*)]*\s*(?:once\s*(?:[).,;]|$)|(?:is|are|has|have)\s+(?:been\s+)?(?:gone|no longer|obsolete|removed)\b)/i;
/** "…; that is not your business." */
const NOT_YOURS = /\bnot (?:part of )?your (?:business|job|concern|task|part|work)\b|\bnot (?:for|up to) you\b/i;
/** "Write one of these lines into decision.txt: …" */
const LINES_INTO_FILE = new RegExp(
  `${WRITES}[^.:]*\\b(?:lines?|tags?|these|this|following|one of|either)\\b[^.:]*\\b(?:in|into|to)\\s+${FILE}[^.:]{0,20}:\\s*$`,
  'i',
);
/** "Write … into decision.txt" */
const WRITE = new RegExp(`${WRITES}(?:\\s+(?!and\\b|then\\b)\\w+){0,4}${MARKS}$`, 'i');
const INTO_FILE = new RegExp(`^${MARKS}(?:(?:or|and|,)${MARKS})*(?:in|into|to|at)\\s+${FILE}`, 'i');
/** "answer with …" */
const ASKS_IN_WORDS = /\b(?:formats?|use this|answer|respond|reply|say|emit|output|print|finish|conclude|end with)\b/i;
/** The same, or "when it is done: …", "then …" */
const ASKS = new RegExp(
  `${ASKS_IN_WORDS.source}|(?:^|\\bthen|\\band|,)\\s*return\\b|(?:[:→>]|\\b(?:then|else|otherwise|or))${MARKS}$`,
  'i',
);
