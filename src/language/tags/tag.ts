import { blank, blankPrints, commentsOf, findRegions } from '../text/markup.ts';

/** A tag as it stands in a message. Only its syntax has been checked. */
export interface Tag {
  readonly name: string;
  /** The language's own attribute names are in lower case, an author's as written. */
  readonly attributes: Readonly<Record<string, string>>;
  /** Attributes given more than once; the last one won. */
  readonly repeated: readonly string[];
  /** The text between the tags, trimmed. */
  readonly body: string;
  readonly line: number;
}

/** The tags of a message: its outermost ones, or the first one that cannot be read. */
export type TagReadResult =
  | { readonly kind: 'tags'; readonly tags: readonly Tag[] }
  | { readonly kind: 'unclosed'; readonly name: string; readonly line: number; readonly message: string };

/** The same with the offset of each `<`. */
export type LocatedTags =
  | { readonly kind: 'tags'; readonly tags: readonly { readonly tag: Tag; readonly offset: number }[] }
  | (Extract<TagReadResult, { kind: 'unclosed' }> & { readonly offset: number });

/** The attributes that belong to the language wherever they stand; they are read in any letter case. */
export const BUILT_IN_ATTRIBUTES = ['return', 'next', 'cd', 'stack', 'input', 'input-file', 'model', 'effort'] as const;

/** The attributes that belong to the language on these tags only; on any other they are an author's own. */
export const TAG_ATTRIBUTES = {
  join: ['wait', 'timeout', 'timeout_next', 'cancel', 'group'],
  'fork-each': ['in', 'as'],
  ask: [
    'timeout',
    'timeout_next',
    'choices',
    'choices_other',
    'choices_many',
    'display_files',
    'upload_slots',
    'upload_bucket',
    'upload_max_count',
    'upload_max_size',
    'upload_max_total_size',
    'upload_mime',
  ],
} as const;

/** The name of an attribute that belongs to the language on some tags only. */
export type TagAttribute = (typeof TAG_ATTRIBUTES)[keyof typeof TAG_ATTRIBUTES][number];

/** The name of an attribute that belongs to the language. */
export type BuiltInAttribute = (typeof BUILT_IN_ATTRIBUTES)[number] | TagAttribute;

const OWN_ATTRIBUTES = new Map<string, readonly string[]>(Object.entries(TAG_ATTRIBUTES));

/** True if an attribute belongs to the language on this tag, and not on every other. */
export const isOwnAttribute = (tag: string, name: string): name is TagAttribute =>
  OWN_ATTRIBUTES.get(tag)?.includes(name) === true;

/** True if an attribute of a tag belongs to the language; any other is an author's variable. */
export const isBuiltInAttribute = (tag: string, name: string): name is BuiltInAttribute =>
  (BUILT_IN_ATTRIBUTES as readonly string[]).includes(name) || isOwnAttribute(tag, name);

/** The attributes that name a state. */
export const STATE_ATTRIBUTES = ['return', 'next', 'timeout_next'] as const;

/** Other words for tags. A tag is always called by its name, however it was written. */
export const TAG_ALIASES: Readonly<Record<string, string>> = { await: 'ask' };

/** The name of the tag that is written with this word. */
export const toTagName = (word: string): string =>
  Object.hasOwn(TAG_ALIASES, word) ? (TAG_ALIASES[word] ?? word) : word;

/**
 * Reads the outermost tags of these names from any text, in linear time, without ever throwing.
 * Comments and what is in a `<print>` never count. Tags in code count only if there is none outside code, and an unclosed tag in code is ignored.
 */
export function readTags(text: string, names: readonly string[]): TagReadResult {
  const located = locateTags(text, names);
  if (located.kind === 'tags') return { kind: 'tags', tags: located.tags.map(({ tag }) => tag) };
  const { kind, name, line, message } = located;
  return { kind, name, line, message };
}

/** Reads the same tags with their offsets. */
export function locateTags(text: string, names: readonly string[]): LocatedTags {
  if (!text.includes('<')) return { kind: 'tags', tags: [] };
  const regions = findRegions(text);
  const outsideCode = scan(text, blankPrints(blank(text, regions)), names);
  if (outsideCode.kind === 'unclosed' || outsideCode.tags.length > 0) return outsideCode;
  const inCode = scan(text, blankPrints(blank(text, commentsOf(text, regions))), names);
  return inCode.kind === 'tags' ? inCode : { kind: 'tags', tags: [] };
}

/**
 * One pass over `visible`, in which code and comments are blanked; bodies and values are cut from the `text` itself.
 * The first tag that cannot be read ends the pass: the message is refused as a whole, so nothing is read twice.
 */
function scan(text: string, visible: string, names: readonly string[]): LocatedTags {
  const tags: { tag: Tag; offset: number }[] = [];
  const aliases = Object.keys(TAG_ALIASES).filter((alias) => names.includes(toTagName(alias)));
  const opener = new RegExp(`<(${[...names, ...aliases].join('|')})(?=[\\s/>]|$)`, 'gi');
  let line = 1;
  let counted = 0;
  for (let found = opener.exec(visible); found !== null; found = opener.exec(visible)) {
    const name = (found[1] ?? '').toLowerCase();
    const offset = found.index;
    line += text.slice(counted, offset).split('\n').length - 1;
    counted = offset;
    const opened = readOpener(text, visible, opener.lastIndex);
    if (opened === undefined) {
      const message = `the \`<${name}\` on line ${line} is not a complete tag${quoteAdvice(visible, opener.lastIndex)}`;
      return { kind: 'unclosed', name, line, offset, message };
    }
    const closed = opened.selfClosed ? { start: opened.end, end: opened.end } : findCloser(visible, name, opened.end);
    if (closed === undefined) {
      return {
        kind: 'unclosed',
        name,
        line,
        offset,
        message: `the \`<${name}>\` on line ${line} has no \`</${name}>\``,
      };
    }
    const body = text.slice(opened.end, closed.start).trim();
    const tagName = toTagName(name);
    tags.push({ tag: { name: tagName, ...attributesOf(tagName, opened.pairs), body, line }, offset });
    opener.lastIndex = closed.end;
  }
  return { kind: 'tags', tags };
}

/** How far an opening tag is searched for quotes, for advice. */
const ADVICE_LENGTH = 2_000;

/** Advice for a tag that cannot be read because of its attributes. */
const quoteAdvice = (visible: string, from: number): string =>
  /^[^<>]*=\s*["']/.test(visible.slice(from, from + ADVICE_LENGTH))
    ? '; probably an attribute contains a quote: hand such a text over with `input-file="PATH"`'
    : '';

interface Opener {
  readonly pairs: readonly (readonly [string, string])[];
  readonly end: number;
  readonly selfClosed: boolean;
}

/** Reads attributes up to the `>` that ends the opening tag; undefined if it never ends properly. */
function readOpener(text: string, visible: string, from: number): Opener | undefined {
  const pairs: [string, string][] = [];
  const token = /\s*(?:(\/?>)|([^\s=<>"'/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'<>]+)))?)/dy;
  token.lastIndex = from;
  for (let found = token.exec(visible); found !== null; found = token.exec(visible)) {
    if (found[1] !== undefined) return { pairs, end: token.lastIndex, selfClosed: found[1] === '/>' };
    const value = found.indices?.[3] ?? found.indices?.[4] ?? found.indices?.[5];
    pairs.push([found[2] ?? '', value === undefined ? '' : text.slice(...value)]);
  }
  return undefined;
}

/** Where the closing tag stands that balances an opening one. */
function findCloser(visible: string, name: string, from: number): { start: number; end: number } | undefined {
  const either = new RegExp(`<(?:(/)${name}\\s*>|${name}(?=[\\s>])(?!\\s*/>))`, 'gi');
  either.lastIndex = from;
  let depth = 1;
  for (let found = either.exec(visible); found !== null; found = either.exec(visible)) {
    depth += found[1] === undefined ? 1 : -1;
    if (depth === 0) return { start: found.index, end: either.lastIndex };
  }
  return undefined;
}

function attributesOf(
  tag: string,
  pairs: readonly (readonly [string, string])[],
): Pick<Tag, 'attributes' | 'repeated'> {
  const attributes = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [written, value] of pairs) {
    const name = isBuiltInAttribute(tag, written.toLowerCase()) ? written.toLowerCase() : written;
    if (attributes.has(name)) repeated.add(name);
    attributes.set(name, value);
  }
  return { attributes: Object.fromEntries(attributes), repeated: [...repeated] };
}
