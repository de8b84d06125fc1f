import { shortenForMessage } from '../problem.ts';
import { isTagName, TAG_NAMES, TAG_WORDS, type TagName, TRANSITIONS } from '../transitions/index.ts';
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

/** Quotes a tag for a message: shortened, and with its line if it has one. */
export const quoteAnswerTag = (tag: Tag): string => formatQuote(tag, '');

/** Quotes a tag with its attributes, for messages in which they matter. */
export function quoteWholeTag(tag: Tag): string {
  let attributesText = '';
  for (const key in tag.attributes) {
    if (attributesText.length > MAX_ATTRIBUTES_LENGTH) break;
    attributesText += ` ${shortenForMessage(key)}="${shortenForMessage(tag.attributes[key] ?? '')}"`;
  }
  return formatQuote(tag, shortenForMessage(attributesText));
}

function formatQuote({ name, body, line }: Tag, attributes: string): string {
  const rest = isTagName(name) && TRANSITIONS[name].body === 'text' ? '' : `${shortenForMessage(body)}</${name}>`;
  return `\`<${name}${attributes}>${rest}\`${line > 0 ? ` (line ${line})` : ''}`;
}

const MAX_LISTED_TAGS = 5;
const MAX_ATTRIBUTES_LENGTH = 60;

/** Lists tags for a message, the first few of them. */
export function listAnswerTags(tags: readonly Tag[]): string {
  const shown = tags.slice(0, MAX_LISTED_TAGS).map(quoteWholeTag);
  const more = tags.length - shown.length;
  const last = more > 0 ? `${more} more` : shown.pop();
  return `${shown.join(', ')} and ${last}`;
}
