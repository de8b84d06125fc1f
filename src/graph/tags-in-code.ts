import { findRegions, type Region } from '../core/markup.ts';
import { readTagMentions, type TagMention } from '../core/tag-mentions.ts';

/** Reads the tags in the code of a prompt, which do not count because `tags` are outside of code. */
export function readTagsInCode(text: string, tags: readonly TagMention[]): readonly TagMention[] {
  if (tags.length === 0) return [];
  const counted = new Set(tags.map(({ offset }) => offset));
  const code = findRegions(text).filter(({ kind }) => kind === 'code');
  const inCode = code.flatMap(({ start, end }) =>
    readTagMentions(text.slice(start, end)).tags.map((tag) => ({ ...tag, offset: start + tag.offset })),
  );
  return inCode.filter(({ offset }) => !counted.has(offset));
}

/** Finds the fenced blocks of code in a text. */
export const findCodeBlocks = (text: string): readonly Region[] =>
  findRegions(text).filter(({ kind, start, end }) => kind === 'code' && FENCED.test(text.slice(start, end)));

/** Lines between two lines of nothing but marks; a language may be named on the first. */
const FENCED = /^(?:`{3,}[^`\n]*|~{3,}[^\n]*)\n(?:[\s\S]*\n)?[ \t]*(?:`{3,}|~{3,})[ \t\r]*$/;
