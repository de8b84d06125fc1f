import { hasUnknownPart, UNKNOWN } from '../core/tag-mentions.ts';

const UNKNOWN_PART = new RegExp(`${UNKNOWN}+|\\{\\{[^{}]*\\}\\}`, 'g');
const ENDING = /\.(?:md|sh|ps1|bat)$/;
/** Characters that no state has in its name. */
const INVALID_CHARACTER = /[\s{}$[\]<>…*?|/\\]/;
/** Enough for any name that people make up. */
const MAX_PARTS = 5;

/** Compiles a name that is filled in later, such as `STYLE_{{lang}}.md`; undefined if next to nothing of it is known. */
export function compileNamePattern(name: string): RegExp | undefined {
  const parts = name.split(UNKNOWN_PART);
  const known = parts.join('');
  if (parts.length === 1 || parts.length > MAX_PARTS || INVALID_CHARACTER.test(known)) return undefined;
  if (!/[\p{L}\p{N}]/u.test(known.replace(ENDING, ''))) return undefined;
  const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('.*');
  return new RegExp(`^${escaped}${ENDING.test(known) ? '' : '(?:\\.(?:md|sh|ps1|bat))?'}$`, 'u');
}

/** Formats such a name for a message. */
export const formatNamePattern = (name: string): string => name.replace(UNKNOWN_PART, '…');

/** Whether a name in a prompt stands for one that the agent is to choose: `STATE`, `[NAME].md`, `…`, or nothing at all. */
export const isPlaceholderName = (name: string): boolean =>
  hasUnknownPart(name) || name.trim() === '' || PLACEHOLDER.test(name);

const PLACEHOLDER =
  /[\s{}$[\]<>…*?]|\.\.\.|^(?:(?:the|your|next|target)[-_]?)?(?:state|name|file|filename|target)(?:[-_]?name)?(?:\.md)?$/i;
