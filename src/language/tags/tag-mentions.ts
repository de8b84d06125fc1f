import { isTagName, TAG_NAMES, TAG_WORDS, type TagName } from '../transitions/index.ts';
import { locateTags, type Tag, toTagName } from './tag.ts';

/** A tag in a text, and the offset of its `<`. */
export interface TagMention {
  readonly name: TagName;
  readonly tag: Tag;
  readonly offset: number;
  /** The offsets of names of states that are written elsewhere, by attribute; that of the tag's text has the empty name. */
  readonly nameOffsets?: Readonly<Record<string, number>>;
}

/** A tag that is opened and never closed: a mention of the tag, or a mistake. */
export interface UnclosedMention {
  readonly name: TagName;
  readonly offset: number;
  /** The name that follows it, if any. */
  readonly after: string;
}

/** The tags that a text mentions, complete and unclosed ones. */
export interface TagMentions {
  readonly tags: readonly TagMention[];
  readonly unclosedTags: readonly UnclosedMention[];
}

/** Stands in a text for a value that is only known in a run, such as that of a shell variable. */
export const UNKNOWN = '\uE000';

/** True if a name or a value is only known when the tag is written. */
export const hasUnknownPart = (value: string): boolean => value.includes(UNKNOWN) || value.includes('{{');

/** The text is read again for each unclosed tag, but only this often. */
const MAX_UNCLOSED = 32;

/**
 * Reads the tags that a text mentions as the interpreter would if the text were an answer: outermost tags only, comments
 * never, code only if there is none outside it. An unclosed tag, which would make an answer invalid, is listed apart.
 */
export function readTagMentions(text: string): TagMentions {
  if (!text.includes('<')) return { tags: [], unclosedTags: [] };
  const unclosedTags: UnclosedMention[] = [];
  let visible = text;
  for (let round = 0; round <= MAX_UNCLOSED; round++) {
    const reading = locateTags(visible, TAG_NAMES);
    if (reading.kind === 'tags') return { tags: reading.tags.flatMap(toMention), unclosedTags };
    const { name, offset } = reading;
    const tagName = toTagName(name);
    if (!isTagName(tagName)) break;
    const [after = ''] = visible.slice(offset + 1 + name.length).split(/[<\n]/, 1);
    unclosedTags.push({ name: tagName, offset, after: leadingName(after.replace(/^[^>]*>/, '')) });
    visible = `${visible.slice(0, offset)} ${visible.slice(offset + 1)}`;
  }
  return { tags: [], unclosedTags };
}

const toMention = ({ tag, offset }: { readonly tag: Tag; readonly offset: number }): readonly TagMention[] =>
  isTagName(tag.name) ? [{ name: tag.name, tag, offset }] : [];

const SIMPLE_TAGS = new RegExp(`<(${TAG_WORDS.join('|')})\\b[^<>]*>[^<]*</\\1\\s*>`, 'gi');

/** The text without its tags, except those of the kind `kept`. */
export const stripTags = (text: string, kept: TagName | null = null): string =>
  text.replace(SIMPLE_TAGS, (written, name: string) => (toTagName(name.toLowerCase()) === kept ? written : ' '));

const leadingName = (text: string): string => /^\s*([\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*)/u.exec(text)?.[1] ?? '';
