import { readScriptTags } from '../../bash/script-tags.ts';
import { readPromptTags } from '../../graph/prompt-tags.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import type { StateResolver } from '../../graph/state-resolver.ts';
import { toTagName } from '../../language/tags/tag.ts';
import { blank, commentsOf, findRegions } from '../../language/text/markup.ts';
import { editDistance, nearest } from '../../language/text/nearest.ts';
import type { TextPosition } from '../../language/text/text.ts';
import { isTagName, TAG_NAMES, type TagName, TRANSITIONS } from '../../language/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { defineStateRule, levelForTag, type RuleFinding } from '../rule.ts';

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

/** A tag that names a state is never closed. An opening tag in a sentence about tags is not a mistake. */
export const unclosedTag = defineStateRule(
  { id: 'unclosed-tag', level: 'error', supersedes: ['unreachable-state', ...CYCLE_RULES] },
  (analysis) => [
    ...findUnclosedPrint(analysis),
    ...analysis.unclosedTags.flatMap(({ name, after: state, at, sure }) => {
      const [attribute, named = ''] = (sure && NAME_IN_ATTRIBUTE.exec(openingTag(at, analysis))) || [];
      if (
        attribute !== undefined &&
        TRANSITIONS[name].body === 'state' &&
        analysis.names.resolve(named).kind === 'found'
      ) {
        const message = `this \`<${name}>\` has its state in an attribute (\`${attribute}\`), where it has no effect`;
        return [{ at, message, hint: `Write <${name}>${named}</${name}>.`, level: levelForTag(analysis) }];
      }
      const isTag =
        TRANSITIONS[name].body === 'state' && state !== '' && analysis.names.resolve(state).kind === 'found';
      // A script may print the end of a tag by itself.
      const endsElsewhere = analysis.kind === 'script' && hasLoneClosingTag(name, analysis);
      if (!sure || !isTag || endsElsewhere) return [];
      if (analysis.kind === 'prompt' && hasOpenQuote(name, at, analysis)) {
        const message = `a quote in the attributes of this \`<${name}>\` is never closed`;
        return [{ at, message, hint: 'Close it after the value.', level: levelForTag(analysis) }];
      }
      const message = `the \`<${name}>${state}\` has no \`</${name}>\``;
      return [{ at, message, hint: `Write <${name}>${state}</${name}>.`, level: levelForTag(analysis) }];
    }),
  ],
);

/** Finds a `<print>` of a script that has no end anywhere in it. In a prompt it may be talk about the tag. */
function findUnclosedPrint({ kind, source, positionAt }: StateAnalysis): readonly Omit<RuleFinding, 'file'>[] {
  if (kind !== 'script') return [];
  const code = source.state.text.replace(/^[ \t]*#.*$/gm, (comment) => ' '.repeat(comment.length));
  const start = code.search(/<print[\s>]/i);
  if (start === -1 || /<\/print\s*>/i.test(code)) return [];
  const message = 'the `<print>` has no `</print>`, so nothing is shown';
  return [{ at: positionAt(start), message, hint: 'Write <print>…</print>.', level: 'warning' }];
}

/** The name of a state where other languages have it. */
const NAME_IN_ATTRIBUTE = /\b(?:target|state|to)=["']([^"'<>]+)["']/i;

/** Returns what is between the beginning of a tag and its `>`. */
const openingTag = (at: TextPosition, analysis: StateAnalysis): string =>
  restOfLine(at, analysis).split('>', 1)[0] ?? '';

/** Checks for a line that closes a tag and does not open it. */
function hasLoneClosingTag(name: string, { source }: StateAnalysis): boolean {
  const lines = source.state.text.toLowerCase().split('\n');
  return lines.some((line) => line.includes(`</${name}`) && !line.includes(`<${name}`));
}

/** Checks for an odd number of quotes between the name of a tag and its `>`. */
function hasOpenQuote(name: string, at: TextPosition, analysis: StateAnalysis): boolean {
  const attributes = openingTag(at, analysis).slice(name.length + 1);
  return attributes.includes('=') && ['"', "'"].some((quote) => attributes.split(quote).length % 2 === 0);
}

/** Returns the rest of the line from a position on. */
function restOfLine({ line, column }: TextPosition, { source: { text, state, origin } }: StateAnalysis): string {
  if (origin === undefined) return text.split('\n')[line - 1]?.slice(column - 1) ?? '';
  const { body } = origin;
  return body === null ? '' : (state.text.split('\n')[line - body.line]?.slice(column - body.column) ?? '');
}
