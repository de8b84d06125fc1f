import { readScriptTags } from '../../bash/script-tags.ts';
import { readPromptTags } from '../../graph/prompt-tags.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import type { StateResolver } from '../../graph/state-resolver.ts';
import { toTagName } from '../../language/tags/tag.ts';
import { blank, commentsOf, findRegions } from '../../language/text/markup.ts';
import { editDistance, nearest } from '../../language/text/nearest.ts';
import { isTagName, TAG_NAMES, type TagName, TRANSITIONS } from '../../language/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { defineStateRule, levelForTag } from '../rule.ts';

/** An element is meant as a tag, but is not a tag of the language. */
export const unknownTag = defineStateRule(
  {
    id: 'unknown-tag',
    level: 'error',
    supersedes: ['missing-attribute', 'no-way-out', 'silent-path', 'unreachable-state', ...CYCLE_RULES],
  },
  (analysis) =>
    findUnknownTags(analysis, analysis.names).map((unknown) => {
      const at = analysis.positionAt(unknown.start);
      return { at, ...describeUnknownTag(unknown), level: levelForTag(analysis) };
    }),
);

function describeUnknownTag({ name, body, meant }: UnknownTag): { message: string; hint: string } {
  const isText = TRANSITIONS[meant].body === 'text';
  const shown = isText ? `\`<${name}>\`` : `\`<${name}>${body}</${name}>\``;
  const message = `${shown} is not a tag of the language (did you mean <${meant}>?)`;
  return { message, hint: `Write <${meant}>${isText ? '…' : body}</${meant}>.` };
}

/** An element that is written where a tag could be, but is not a tag of the language. */
interface UnknownTag {
  readonly name: string;
  readonly body: string;
  readonly start: number;
  readonly end: number;
  /** The tag that is misspelt. */
  readonly meant: TagName;
}

const ELEMENT = /<([a-z][a-z_-]*)(\s[^<>]*)?(?:\/>|>([^<>]*)<\/([a-z][a-z_-]*)\s*>)/gi;

/** Finds the elements of a state's file that are no tags, and would be followed or sent if they were. */
function findUnknownTags(analysis: StateAnalysis, names: StateResolver): readonly UnknownTag[] {
  const { text } = analysis.source.state;
  const hasComments = analysis.kind === 'prompt' && text.includes('<!--');
  const visible = hasComments ? blank(text, commentsOf(text, findRegions(text))) : text;
  const elements = [...visible.matchAll(ELEMENT)].filter(([, written = '']) => {
    const name = toTagName(written.toLowerCase());
    return !isTagName(name) && name !== 'print';
  });
  const unknownTags = elements.flatMap((element) => parseUnknownTag(element, names) ?? []);
  return unknownTags.length === 0 ? [] : keepAnswerable(analysis, unknownTags, names);
}

function parseUnknownTag(element: RegExpExecArray, names: StateResolver): UnknownTag | undefined {
  const [whole, written = '', , inside = '', closing = written] = element;
  const name = written.toLowerCase();
  const body = inside.trim();
  const unknownTag = { name: written, body, start: element.index, end: element.index + whole.length };
  const isState = names.candidatesFor(body).length === 1;
  // An element that names no state is other markup, but for the smallest of slips: <resume> is none.
  const isMisspeltResult = name !== 'results' && editDistance(name, 'result') === 1;
  const meant = isState ? nearest(name, TAGS_WITH_NAMES) : isMisspeltResult ? 'result' : undefined;
  const isClosed = closing.toLowerCase() === name || closing.toLowerCase() === meant;
  return meant === undefined || !isClosed ? undefined : { ...unknownTag, meant };
}

/** The tags that may stand around the name of a state; a question is never one word. */
const TAGS_WITH_NAMES = TAG_NAMES.filter((tag) => tag !== 'ask');

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
    corrected += `<${meant}>${body}</${meant}>`;
    from = end;
  }
  corrected += text.slice(from);
  const isState = (name: string): boolean => names.candidatesFor(name.trim()).length > 0;
  const tags =
    kind === 'script' ? readScriptTags(file, corrected).tags : readPromptTags(corrected, rules, isState).tags;
  const counting = new Set(tags.flatMap(({ offset, sure }) => (sure || kind === 'script' ? offset : [])));
  return unknownTags.filter((_, index) => counting.has(offsets[index] ?? -1));
}
