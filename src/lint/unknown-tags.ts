import { readScriptTags } from '../bash/script-tags.ts';
import { blank, commentsOf, findRegions } from '../core/markup.ts';
import { editDistance, nearest } from '../core/nearest.ts';
import { isTagName, TAG_NAMES, type TagName } from '../core/transitions/index.ts';
import { readPromptTags } from '../graph/prompt-tags.ts';
import type { StateAnalysis } from '../graph/state-analysis.ts';
import type { StateResolver } from '../graph/state-resolver.ts';

/** An element that is written where a tag could be, but is not a tag of the language. */
export interface UnknownTag {
  readonly name: string;
  readonly body: string;
  readonly start: number;
  readonly end: number;
  /** The tag that was probably meant; null if it is one that the language is to have and Raymond does not know yet. */
  readonly meant: TagName | null;
  /** Whether it is a misspelt tag, and not another word for one. */
  readonly isMisspelt: boolean;
}

const PLANNED_TAGS = ['ask', 'join'];

/** Other words for going to a state. */
const MOVES =
  /^(?:go|go[-_]to|next|(?:next|new)[-_]?(?:state|step)|jump|move|transition|continue|proceed|advance|redirect)$/;

const ELEMENT = /<([a-z][a-z_-]*)(\s[^<>]*)?(?:\/>|>([^<>]*)<\/([a-z][a-z_-]*)\s*>)/gi;

/** Finds the elements of a state's file that are no tags, and would be followed or sent if they were. */
export function findUnknownTags(analysis: StateAnalysis, names: StateResolver): readonly UnknownTag[] {
  const { text } = analysis.source.state;
  const hasComments = analysis.kind === 'prompt' && text.includes('<!--');
  const visible = hasComments ? blank(text, commentsOf(text, findRegions(text))) : text;
  const elements = [...visible.matchAll(ELEMENT)].filter(([, name = '']) => !isTagName(name.toLowerCase()));
  if (elements.length === 0) return [];
  const named = new Set(
    analysis.tags.flatMap(({ tag: { body, attributes } }) =>
      [body, attributes.return, attributes.next].map((name) => names.fileOf(name ?? '')),
    ),
  );
  const unknownTags = elements.flatMap((element) => parseUnknownTag(element, named, names) ?? []);
  return unknownTags.length === 0 ? [] : keepAnswerable(analysis, unknownTags, names);
}

/** `named` are the states that the tags of the file name: other markup may also mention them. */
function parseUnknownTag(
  element: RegExpExecArray,
  named: ReadonlySet<string | undefined>,
  names: StateResolver,
): UnknownTag | undefined {
  const [whole, written = '', attributes = '', inside = '', closing = written] = element;
  const name = written.toLowerCase();
  const body = inside.trim();
  const unknownTag = { name: written, body, start: element.index, end: element.index + whole.length };
  if (PLANNED_TAGS.includes(name) && /\snext\s*=/i.test(attributes)) {
    return { ...unknownTag, meant: null, isMisspelt: false };
  }
  const [state, another] = names.candidatesFor(body);
  const isState = state !== undefined && another === undefined;
  // An element that names no state is other markup, but for the smallest of slips: <resume> is none.
  const near = isState ? nearest(name, TAG_NAMES) : isMisspeltResult(name) ? 'result' : undefined;
  if (closing.toLowerCase() !== name && closing.toLowerCase() !== near) return undefined;
  if (near !== undefined) return { ...unknownTag, meant: near, isMisspelt: true };
  return isState && MOVES.test(name) && !named.has(state)
    ? { ...unknownTag, meant: 'goto', isMisspelt: false }
    : undefined;
}

const isMisspeltResult = (name: string): boolean => name !== 'results' && editDistance(name, 'result') === 1;

/** Reads the text as if proper tags stood in the place of these, and keeps those that then count as tags. */
function keepAnswerable(
  { kind, file, source }: StateAnalysis,
  unknownTags: readonly UnknownTag[],
  names: StateResolver,
): readonly UnknownTag[] {
  const { text, rules } = source.state;
  const offsets: number[] = [];
  let corrected = '';
  let from = 0;
  for (const { start, end, meant, body } of unknownTags) {
    corrected += text.slice(from, start);
    offsets.push(corrected.length);
    corrected += `<${meant ?? 'goto'}>${body}</${meant ?? 'goto'}>`;
    from = end;
  }
  corrected += text.slice(from);
  const isState = (name: string): boolean => names.candidatesFor(name.trim()).length > 0;
  const tags =
    kind === 'script' ? readScriptTags(file, corrected).tags : readPromptTags(corrected, rules.policy, isState).tags;
  const counting = new Set(tags.flatMap(({ offset, sure }) => (sure || kind === 'script' ? offset : [])));
  return unknownTags.filter((_, index) => counting.has(offsets[index] ?? -1));
}
