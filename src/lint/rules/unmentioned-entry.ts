import { implicitTag, namedStates, type PolicyEntry } from '../../core/policy.ts';
import { formatPolicyTag } from '../../core/reminder.ts';
import { stem } from '../../core/state-names.ts';
import { stripTags } from '../../core/tag-mentions.ts';
import { WHOLE_FILE } from '../../core/text-position.ts';
import { type TagName, TRANSITIONS } from '../../core/transitions/index.ts';
import type { Edge } from '../../graph/graph.ts';
import { groupBy } from '../../graph/group-by.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import type { StateResolver } from '../../graph/state-resolver.ts';
import { defineRule, type RuleContext, type RuleFinding } from '../rule.ts';
import { isPermitted } from './forbidden-tag.ts';

/** A policy permits what the prompt never names, so that its agent learns of it only by a reminder. */
export const unmentionedEntry = defineRule({ id: 'unmentioned-entry', level: 'warning' }, (context) => {
  const edgesInto = groupBy(context.graph.edges, ({ to }) => (to?.kind === 'state' ? to.file : null));
  return context.analyses.flatMap((analysis): readonly RuleFinding[] => {
    const { rules, text } = analysis.source.state;
    if (analysis.broken || text.trim() === '' || implicitTag(rules.policy) !== undefined) return [];
    const isMentioned = createMentionCheck(collectTexts(analysis, edgesInto.get(analysis.file) ?? [], context));
    const unmentioned = rules.policy.filter((entry) => {
      const states = namedStates(entry).map(([, name]) => context.names.fileOf(name));
      return states.every((state) => state !== undefined) && !isMentioned(entry.tag, states);
    });
    const isMistaken = createMistakeCheck(analysis, unmentioned, context.names);
    return rules.policy.flatMap((entry, index) => {
      if (!unmentioned.includes(entry) || isMistaken(entry)) return [];
      const at = analysis.source.entries[index]?.at ?? WHOLE_FILE;
      const message = `the prompt never mentions \`${formatPolicyTag(entry)}\`, which its \`allowed_transitions\` permit`;
      return [{ file: analysis.file, at, message, hint: hintFor(entry, rules.policy.length) }];
    });
  });
});

function hintFor({ tag, target, attributes }: PolicyEntry, entries: number): string {
  const { body, required } = TRANSITIONS[tag];
  const missing = [
    ...(body === 'state' && target === null ? ['target'] : []),
    ...required.filter((key) => attributes[key] === undefined),
  ];
  return entries > 1 || missing[0] === undefined
    ? 'Say in the prompt when to answer with it, or take it out of the `allowed_transitions`.'
    : `Add \`${missing[0]}\` to the entry, so that the agent does not have to say it, or say in the prompt when to answer with it.`;
}

/** Joins the texts that an agent has read: where every transition into a state continues a conversation, also the prompts before it. */
function collectTexts(
  { file, source }: StateAnalysis,
  into: readonly Edge[],
  { graph, analysisOf }: RuleContext,
): string {
  const { text, appendSystemPrompt } = source.state;
  const isContinued = file !== graph.entry && into.every(({ tag }) => tag === 'goto' || tag === 'call');
  const before = isContinued ? into.map(({ from }) => analysisOf.get(from)?.source.state.text ?? '') : [];
  return [text, appendSystemPrompt ?? '', ...before].join('\n');
}

/** Makes a check for the names of states in a text, not counting tags of another kind; without states, for the name of the tag. */
function createMentionCheck(text: string): (tag: TagName, states: readonly (string | undefined)[]) => boolean {
  const outside = stripTags(text);
  const visible = new Map<TagName, { readonly text: string; readonly words: ReadonlySet<string> }>();
  const textFor = (tag: TagName) => {
    const shown = new RegExp(`\\b${tag}\\b`, 'i').test(outside) ? text : stripTags(text, tag);
    const known = visible.get(tag) ?? { text: shown, words: new Set(shown.match(WORD)) };
    visible.set(tag, known);
    return known;
  };
  return (tag, states) => {
    if (states.length === 0) return new RegExp(`\\b${tag}\\b`, 'i').test(text);
    const { text: shown, words } = textFor(tag);
    const isNamed = (name: string): boolean => words.has(name) || (!PLAIN_NAME.test(name) && shown.includes(name));
    return states.every((state = '') => isNamed(state) || isNamed(stem(state)));
  };
}

const WORD = /[\w-]+(?:\.[\w-]+)*/g;
/** Other names may be written in scripts that put no blanks between words. */
const PLAIN_NAME = /^[\w.-]+$/;

/** Makes a check for entries that a forbidden tag of the prompt may be meant for: `forbidden-tag` reports those. */
function createMistakeCheck(
  analysis: StateAnalysis,
  unmentioned: readonly PolicyEntry[],
  names: StateResolver,
): (entry: PolicyEntry) => boolean {
  const mistakes =
    unmentioned.length === 0 ? [] : analysis.expandedTags.filter((placed) => !isPermitted(placed, analysis, names));
  const mistakenStates = new Set(mistakes.map(({ tag }) => names.intendedFile(tag.body)));
  const isSameState = ({ target }: PolicyEntry): boolean =>
    target !== null && mistakenStates.has(names.intendedFile(target));
  return (entry) =>
    isSameState(entry) ||
    // Of several entries with the same tag, it is not known which one is meant.
    (mistakes.some(({ name }) => name === entry.tag) &&
      unmentioned.filter((each) => each.tag === entry.tag && !isSameState(each)).length === 1);
}
