import { blank, commentsOf, findRegions } from '../core/markup.ts';
import { editDistance, nearest } from '../core/nearest.ts';
import { isTagName, TAG_NAMES, type TagName } from '../core/transitions/index.ts';
import { readPromptTags } from '../graph/prompt-tags.ts';
import type { StateAnalysis } from '../graph/state-analysis.ts';
import type { StateResolver } from '../graph/state-resolver.ts';
import { readScriptTags } from '../shell/script-tags.ts';

/** What looks like a tag and stands where one could stand, but is no tag of the language. */
export interface UnknownTag {
  readonly name: string;
  readonly body: string;
  readonly start: number;
  readonly end: number;
  /** The tag that was probably meant; null if it is one that the language is to have and Raymond does not know yet. */
  readonly meant: TagName | null;
  /** A slip of the pen, another word for going somewhere, or any word. */
  readonly how: 'slip' | 'move' | 'word';
}

const PLANNED_TAGS = ['ask', 'join'];

const ELEMENT = /<([a-z][a-z_-]*)(\s[^<>]*)?(?:\/>|>([^<>]*)<\/([a-z][a-z_-]*)\s*>)/gi;

/** The strangers of a state's file. */
export function findUnknownTags(analysis: StateAnalysis, names: StateResolver): readonly UnknownTag[] {
  const { text } = analysis.source.state;
  const isPlain = analysis.kind === 'script' || !text.includes('<!--');
  const visible = isPlain ? text : blank(text, commentsOf(text, findRegions(text)));
  const elements = [...visible.matchAll(ELEMENT)].filter(([, name = '']) => !isTagName(name.toLowerCase()));
  if (elements.length === 0) return [];
  const named = new Set(analysis.tags.flatMap(({ tag }) => filesIn(tag, names)));
  const found = elements.flatMap((element) => {
    const unknownTag = parseUnknownTag(element, names);
    return unknownTag === undefined || isOtherMarkup(unknownTag, analysis, visible, named, names) ? [] : [unknownTag];
  });
  return found.length === 0 ? [] : keepAnswerable(analysis, found, names);
}

function parseUnknownTag(element: RegExpExecArray, names: StateResolver): UnknownTag | undefined {
  const [whole, written = '', attributes = '', inside = '', closing = written] = element;
  const name = written.toLowerCase();
  const body = inside.trim();
  const unknownTag = { name: written, body, start: element.index, end: element.index + whole.length };
  if (PLANNED_TAGS.includes(name) && /\snext\s*=/i.test(attributes)) return { ...unknownTag, meant: null, how: 'word' };
  const isState = fileNamed(body, names) !== undefined;
  // What names no state is markup of another kind, but for the smallest of slips: <resume> is none.
  const near = isState ? nearest(name, TAG_NAMES) : isSlip(name) ? 'result' : undefined;
  if (closing.toLowerCase() !== name && closing.toLowerCase() !== near) return undefined;
  if (near !== undefined) return { ...unknownTag, meant: near, how: 'slip' };
  return isState ? { ...unknownTag, meant: 'goto', how: MOVES.test(name) ? 'move' : 'word' } : undefined;
}

const isSlip = (name: string): boolean => name !== 'results' && editDistance(name, 'result') === 1;

/** What one might take for the name of a transition. */
const MOVES =
  /^(?:go|go[-_]to|next|(?:next|new)[-_]?(?:state|step)|jump|move|transition|continue|proceed|advance|redirect)$/;

/** Whether this is only markup of another kind: a name that is no slip has to name a file as one answers. */
function isOtherMarkup(
  { name, body, start, meant, how }: UnknownTag,
  { kind }: StateAnalysis,
  text: string,
  named: ReadonlySet<string>,
  names: StateResolver,
): boolean {
  const file = fileNamed(body, names);
  if (how === 'slip' || meant === null || file === undefined) return false;
  const isSaid = kind === 'script' || ANSWER.test(text.slice(Math.max(0, start - NEAR), start));
  const isTag = how === 'move' || PLANNED_TAGS.includes(name.toLowerCase());
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

function filesIn({ body, attributes }: StateAnalysis['tags'][number]['tag'], names: StateResolver): readonly string[] {
  return [body, attributes.return, attributes.next].flatMap((name) => fileNamed(name?.trim() ?? '', names) ?? []);
}

/** The state that a text names, without a look at what else it may mean: most of what stands in markup is no name. */
function fileNamed(text: string, names: StateResolver): string | undefined {
  const [file, another] = names.candidatesFor(text);
  return another === undefined ? file : undefined;
}

/** Reads the text as if proper tags stood in the place of strangers: those that then are no tags are only talk. */
function keepAnswerable(
  analysis: StateAnalysis,
  unknownTags: readonly UnknownTag[],
  names: StateResolver,
): readonly UnknownTag[] {
  const { text } = analysis.source.state;
  const offsets: number[] = [];
  let corrected = '';
  let from = 0;
  for (const { start, end, meant, body } of unknownTags) {
    corrected += text.slice(from, start);
    offsets.push(corrected.length);
    corrected += `<${meant ?? 'goto'}>${body}</${meant ?? 'goto'}>`;
    from = end;
  }
  const heard = tagsIn(analysis, corrected + text.slice(from), names);
  return unknownTags.filter((_, index) => heard.has(offsets[index] ?? -1));
}

/** Where a page with this text has tags that may be said. */
function tagsIn({ kind, file, source }: StateAnalysis, text: string, names: StateResolver): ReadonlySet<number> {
  if (kind === 'script') return new Set(readScriptTags(file, text).tags.map(({ offset }) => offset));
  const isState = (name: string): boolean => names.candidatesFor(name.trim()).length > 0;
  const { tags, quoted } = readPromptTags(text, source.state.rules.policy, isState);
  const heard = [...tags.filter(({ sure }) => sure), ...quoted.filter(({ fenced }) => !fenced)];
  return new Set(heard.map(({ offset }) => offset));
}
