import { blank, commentsOf, findRegions } from '../core/markup.ts';
import { distance, nearest } from '../core/nearest.ts';
import { isTagName, TAG_NAMES, type TagName } from '../core/transitions/index.ts';
import type { Page } from './page.ts';
import { readPromptTags } from './prompt.ts';
import type { Resolver } from './resolver.ts';
import { readScript } from './script.ts';

/** What looks like a tag and stands where one could stand, but is no tag of the language. */
export interface Stranger {
  readonly name: string;
  readonly body: string;
  readonly start: number;
  readonly end: number;
  /** The tag that was probably meant; null if it is one that the language is to have and Raymond does not know yet. */
  readonly meant: TagName | null;
  /** A slip of the pen, another word for going somewhere, or any word. */
  readonly how: 'slip' | 'move' | 'word';
}

const UNBUILT = ['ask', 'join'];

const ELEMENT = /<([a-z][a-z_-]*)(\s[^<>]*)?(?:\/>|>([^<>]*)<\/([a-z][a-z_-]*)\s*>)/gi;

/** The strangers of a state's file. */
export function strangersIn(page: Page, names: Resolver): readonly Stranger[] {
  const { text } = page.source.state;
  const isPlain = page.kind === 'script' || !text.includes('<!--');
  const visible = isPlain ? text : blank(text, commentsOf(text, findRegions(text)));
  const elements = [...visible.matchAll(ELEMENT)].filter(([, name = '']) => !isTagName(name.toLowerCase()));
  if (elements.length === 0) return [];
  const named = new Set(page.tags.flatMap(({ tag }) => filesIn(tag, names)));
  const found = elements.flatMap((element) => {
    const stranger = strangerIn(element, names);
    return stranger === undefined || isOther(stranger, page, visible, named, names) ? [] : [stranger];
  });
  return found.length === 0 ? [] : heardIn(page, found, names);
}

function strangerIn(element: RegExpExecArray, names: Resolver): Stranger | undefined {
  const [whole, written = '', attributes = '', inside = '', closing = written] = element;
  const name = written.toLowerCase();
  const body = inside.trim();
  const stranger = { name: written, body, start: element.index, end: element.index + whole.length };
  if (UNBUILT.includes(name) && /\snext\s*=/i.test(attributes)) return { ...stranger, meant: null, how: 'word' };
  const isState = fileNamed(body, names) !== undefined;
  // What names no state is markup of another kind, but for the smallest of slips: <resume> is none.
  const near = isState ? nearest(name, TAG_NAMES) : isSlip(name) ? 'result' : undefined;
  if (closing.toLowerCase() !== name && closing.toLowerCase() !== near) return undefined;
  if (near !== undefined) return { ...stranger, meant: near, how: 'slip' };
  return isState ? { ...stranger, meant: 'goto', how: MOVES.test(name) ? 'move' : 'word' } : undefined;
}

const isSlip = (name: string): boolean => name !== 'results' && distance(name, 'result') === 1;

/** What one might take for the name of a transition. */
const MOVES =
  /^(?:go|go[-_]to|next|(?:next|new)[-_]?(?:state|step)|jump|move|transition|continue|proceed|advance|redirect)$/;

/** Whether this is only markup of another kind: a name that is no slip has to name a file as one answers. */
function isOther(
  { name, body, start, meant, how }: Stranger,
  { kind }: Page,
  text: string,
  named: ReadonlySet<string>,
  names: Resolver,
): boolean {
  const file = fileNamed(body, names);
  if (how === 'slip' || meant === null || file === undefined) return false;
  const isSaid = kind === 'script' || ANSWER.test(text.slice(Math.max(0, start - NEAR), start));
  const isTag = how === 'move' || UNBUILT.includes(name.toLowerCase());
  // A state that another tag leads to may well be spoken of in other markup.
  if (named.has(file)) return !(isTag && isSaid);
  if (how === 'move') return false;
  return !isSaid || body !== file || MARKUP.test(name);
}

/** What may well enclose the name of a file. */
const MARKUP =
  /^(?:files?|filename|path|name|code|doc|document|source|title|link|ref|reference|context|input|output)$/i;
/** "Answer with", right before it. */
const ANSWER = /\b(?:answer|respond|reply|emit|say|output|print|end|finish)\b[^.\n]*$/i;
const NEAR = 80;

function filesIn({ body, attributes }: Page['tags'][number]['tag'], names: Resolver): readonly string[] {
  return [body, attributes.return, attributes.next].flatMap((name) => fileNamed(name?.trim() ?? '', names) ?? []);
}

/** The state that a text names, without a look at what else it may mean: most of what stands in markup is no name. */
function fileNamed(text: string, names: Resolver): string | undefined {
  const [file, another] = names.couldBe(text);
  return another === undefined ? file : undefined;
}

/** Reads the text as if proper tags stood in the place of strangers: those that then are no tags are only talk. */
function heardIn(page: Page, strangers: readonly Stranger[], names: Resolver): readonly Stranger[] {
  const { text } = page.source.state;
  const places: number[] = [];
  let mended = '';
  let from = 0;
  for (const { start, end, meant, body } of strangers) {
    mended += text.slice(from, start);
    places.push(mended.length);
    mended += `<${meant ?? 'goto'}>${body}</${meant ?? 'goto'}>`;
    from = end;
  }
  const heard = tagsIn(page, mended + text.slice(from), names);
  return strangers.filter((_, index) => heard.has(places[index] ?? -1));
}

/** Where a page with this text has tags that may be said. */
function tagsIn({ kind, file, source }: Page, text: string, names: Resolver): ReadonlySet<number> {
  if (kind === 'script') return new Set(readScript(file, text).tags.map(({ offset }) => offset));
  const isState = (name: string): boolean => names.couldBe(name.trim()).length > 0;
  const { tags, quoted } = readPromptTags(text, source.state.rules.policy, isState);
  const heard = [...tags.filter(({ sure }) => sure), ...quoted.filter(({ fenced }) => !fenced)];
  return new Set(heard.map(({ offset }) => offset));
}
