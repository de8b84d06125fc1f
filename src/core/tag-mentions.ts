import { readTags, type Tag } from './tag.ts';
import { isTagName, TAG_NAMES, type TagName } from './transitions/index.ts';

/** A tag in a text, and the offset of its `<`. */
export interface TagMention {
  readonly name: TagName;
  readonly tag: Tag;
  readonly offset: number;
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

/** Whether a name or a value is only known when the tag is written. */
export const hasUnknownPart = (value: string): boolean => value.includes(UNKNOWN) || value.includes('{{');

/** Marks each opening tag with its offset as one more attribute, so that the interpreter's own reader can tell positions. */
const MARK = '\uE001';
const OPENER = new RegExp(`<(?:${TAG_NAMES.join('|')})(?=[\\s/>]|$)(?!\\s*/>)`, 'gi');
const MARKS = new RegExp(` ${MARK}=\\d+ ?`, 'g');

/** The text is read again for each unclosed tag, but only this often. */
const MAX_UNCLOSED = 32;

/**
 * Reads the tags that a text mentions as the interpreter would if the text were an answer: outermost tags only, comments
 * never, code only if there is none outside it. An unclosed tag, which would make an answer invalid, is listed apart.
 */
export function readTagMentions(text: string): TagMentions {
  if (!text.includes('<')) return { tags: [], unclosedTags: [] };
  const unclosedTags: UnclosedMention[] = [];
  let visible = text.replaceAll(MARK, '\uFFFD');
  for (let round = 0; round <= MAX_UNCLOSED; round++) {
    const reading = readTags(marked(visible), TAG_NAMES);
    if (reading.kind === 'tags') return { tags: reading.tags.flatMap((tag) => toMention(tag, visible)), unclosedTags };
    const { name, line } = reading;
    const offset = findUnclosedOn(visible, name, line);
    if (offset === undefined || !isTagName(name)) break;
    const [after = ''] = visible.slice(offset + 1 + name.length).split(/[<\n]/, 1);
    unclosedTags.push({ name, offset, after: leadingName(after.replace(/^[^>]*>/, '')) });
    visible = `${visible.slice(0, offset)} ${visible.slice(offset + 1)}`;
  }
  return { tags: [], unclosedTags };
}

const SIMPLE_TAGS = new RegExp(`<(${TAG_NAMES.join('|')})\\b[^<>]*>[^<]*</\\1\\s*>`, 'gi');

/** The text without its tags, except those of the kind `kept`. */
export const stripTags = (text: string, kept: TagName | null = null): string =>
  text.replace(SIMPLE_TAGS, (written, name: string) => (name.toLowerCase() === kept ? written : ' '));

const leadingName = (text: string): string => /^\s*([\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*)/u.exec(text)?.[1] ?? '';

const marked = (text: string): string =>
  text.replace(OPENER, (opener: string, offset: number) => `${opener} ${MARK}=${offset} `);

const unmarked = (text: string): string => text.replace(MARKS, '');

function toMention({ name, attributes, body, line, repeated }: Tag, text: string): readonly TagMention[] {
  if (!isTagName(name)) return [];
  const { [MARK]: mark, ...written } = attributes;
  const clean = Object.entries(written).map(([key, value]) => [key, unmarked(value)] as const);
  const tag = { name, attributes: Object.fromEntries(clean), repeated, body: unmarked(body).trim(), line };
  return [{ name, tag, offset: mark === undefined ? findTagOn(text, name, line) : Number(mark) }];
}

/** Finds a tag without a mark, because it closes itself. */
function findTagOn(text: string, name: string, line: number): number {
  const start = lineStart(text, line);
  const rest = text.slice(start);
  const closed = rest.search(new RegExp(`<${name}\\s*/>`, 'i'));
  return start + (closed === -1 ? Math.max(0, rest.search(new RegExp(`<${name}`, 'i'))) : closed);
}

/** The opening tag on this line that nothing closes. */
function findUnclosedOn(text: string, name: string, line: number): number | undefined {
  const start = lineStart(text, line);
  const end = text.indexOf('\n', start);
  const openers = text.slice(start, end === -1 ? undefined : end).matchAll(new RegExp(`<${name}(?=[\\s/>]|$)`, 'gi'));
  const offsets = [...openers].map(({ index }) => start + index);
  const isUnclosed = (offset: number): boolean => {
    const rest = readTags(text.slice(offset), TAG_NAMES);
    return rest.kind === 'unclosed' && rest.line === 1;
  };
  // Of several, the last unclosed one: those before it may be closed further on.
  return offsets.length === 1 ? offsets[0] : (offsets.findLast(isUnclosed) ?? offsets[0]);
}

function lineStart(text: string, line: number): number {
  let start = 0;
  for (let i = 1; i < line; i++) start = text.indexOf('\n', start) + 1;
  return start;
}
