import { hasUnknownPart, stripTags } from '../core/tag-mentions.ts';
import { isForeignLanguage } from './english.ts';

/** Whether a name in a prompt only stands for the name that the agent is to choose. */
export const isPlaceholderName = (name: string): boolean =>
  hasUnknownPart(name) ||
  name.trim() === '' ||
  /[\s{}$[\]<>…*?]|\.\.\.|^(?:(?:the|your|next|target)[-_]?)?(?:state|name|file|filename|target)(?:[-_]?name)?(?:\.md)?$/i.test(
    name,
  );

const MARK = '[`"\'*“”‘’«»]*';
const WORD = `(?<![\\p{L}\\p{N}_.-])([\\p{L}_][\\p{L}\\p{N}_-]{0,60})(?![\\p{L}\\p{N}_-])`;
const FILE = `${MARK}[\\p{L}\\p{N}_-]{1,60}\\.(?:md|sh|bat|ps1)\\b`;
const BE = '(?:is|are|being|means|stands for|(?:can|may|must|should) be|[:=])';

/** "where TEAM is", "in place of TEAM", "TEAM is one of", "TEAM is A.md". */
const ENGLISH = [
  `\\bwhere\\s+${MARK}${WORD}${MARK}\\s*${BE}`,
  `\\b(?:in place of|replace|replacing|substitute for)\\s+${MARK}${WORD}`,
  `${WORD}${MARK}\\s*${BE}\\s+(?:one of|either|whichever|the (?:file |state['’]?s )?name|${FILE})`,
];
/** Names of states that follow upon a word say in any language what it stands for. */
const ANY_LANGUAGE = [`${WORD}(?=${MARK}\\s*[:=]?\\s*(?:\\p{L}{1,12}\\s+)?${FILE})`];

/** Says of a word whether a prompt explains that it stands for the names of states. Few prompts are ever asked. */
export function detectExplainedPlaceholders(prompt: string): (word: string) => boolean {
  let words: ReadonlySet<string> | undefined;
  return (word) => {
    words ??= findExplainedWords(prompt);
    return words.has(word);
  };
}

function findExplainedWords(prompt: string): ReadonlySet<string> {
  const prose = stripTags(prompt);
  const patterns = isForeignLanguage(prose) ? [...ENGLISH, ...ANY_LANGUAGE] : ENGLISH;
  return new Set(
    patterns.flatMap((pattern) => [...prose.matchAll(new RegExp(pattern, 'giu'))].map(([, word]) => word ?? '')),
  );
}
