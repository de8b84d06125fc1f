import { findRegions, type Region } from '../core/markup.ts';
import { readTagMentions, type TagMention } from '../core/tag-mentions.ts';

/** A tag in code that an answer would not count, because others stand outside of code. */
export interface QuotedTag extends TagMention {
  /** Whether it stands in a block of its own; what stands in a line of the prose may just be written that way. */
  readonly fenced: boolean;
}

/** The tags in the code of a prompt that are passed over. `tags` are those that count. */
export function readQuotedTags(text: string, tags: readonly TagMention[]): readonly QuotedTag[] {
  if (tags.length === 0) return [];
  const code = findRegions(text).filter(({ kind }) => kind === 'code');
  const countedOffsets = new Set(tags.map(({ offset }) => offset));
  const found = code.map(({ start, end }) => {
    const written = text.slice(start, end);
    const fenced = FENCED.test(written);
    return readTagMentions(written).tags.map((tag) => ({ ...tag, offset: start + tag.offset, fenced }));
  });
  return found.flat().filter(({ offset }) => !countedOffsets.has(offset));
}

/** The blocks of code in a text. */
export const findCodeBlocks = (text: string): readonly Region[] =>
  findRegions(text).filter(({ kind, start, end }) => kind === 'code' && FENCED.test(text.slice(start, end)));

/** Lines between two lines of nothing but marks; a name may follow on the first. */
const FENCED = /^(?:`{3,}[^`\n]*|~{3,}[^\n]*)\n(?:[\s\S]*\n)?[ \t]*(?:`{3,}|~{3,})[ \t\r]*$/;
