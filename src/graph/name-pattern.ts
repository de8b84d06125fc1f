import { UNKNOWN } from '../core/tag-mentions.ts';

const UNKNOWN_PART = new RegExp(`${UNKNOWN}+|\\{\\{[^{}]*\\}\\}`, 'g');
const ENDING = /\.(?:md|sh|ps1|bat)$/;
/** What no name of a state has. */
const INVALID_CHARACTER = /[\s{}$[\]<>…*?|/\\]/;
/** Enough for any name that people make up. */
const MAX_PARTS = 5;

/** What is known of a name that is filled in later, such as `STYLE_{{lang}}.md`; undefined if that is next to nothing. */
export function compileNamePattern(name: string): RegExp | undefined {
  const parts = name.split(UNKNOWN_PART);
  const known = parts.join('');
  if (parts.length === 1 || parts.length > MAX_PARTS || INVALID_CHARACTER.test(known)) return undefined;
  if (!/[\p{L}\p{N}]/u.test(known.replace(ENDING, ''))) return undefined;
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*');
  return new RegExp(`^${escaped}${ENDING.test(known) ? '' : '(?:\\.(?:md|sh|ps1|bat))?'}$`, 'u');
}

/** Such a name as a message shows it. */
export const formatNamePattern = (name: string): string => name.replace(UNKNOWN_PART, '…');
