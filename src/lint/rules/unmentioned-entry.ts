import { type Edge, targetsOf } from '../../graph/graph.ts';
import { groupBy } from '../../graph/group-by.ts';
import type { StateAnalysis } from '../../graph/state-analysis.ts';
import { fileInWorkflow } from '../../language/named-workflows.ts';
import { implicitTag, namedStates, type PolicyEntry } from '../../language/policy.ts';
import { formatPolicyTag } from '../../language/reminder.ts';
import { stem } from '../../language/state-names.ts';
import { STATE_ATTRIBUTES } from '../../language/tags/tag.ts';
import { stripTags } from '../../language/tags/tag-mentions.ts';
import { WHOLE_FILE } from '../../language/text/text.ts';
import { type TagName, TRANSITIONS, takesAttribute } from '../../language/transitions/index.ts';
import { defineRule, type RuleContext, type RuleFinding } from '../rule.ts';

/** A policy permits what the prompt never names, so that its agent learns of it only by a reminder. */
export const unmentionedEntry = defineRule({ id: 'unmentioned-entry', level: 'warning' }, (context) => {
  const edgesInto = groupBy(context.graph.edges, ({ to }) => (to?.kind === 'state' ? to.file : null));
  return context.analyses.flatMap((analysis): readonly RuleFinding[] => {
    const { rules, text } = analysis.source.state;
    if (analysis.kind === 'script' || analysis.broken || text.trim() === '' || implicitTag(rules.policy) !== undefined)
      return [];
    const isTagged = createTagCheck(analysis);
    const overrides = context.graph.edges.filter(({ from, evaluator }) => from === analysis.file && evaluator !== null);
    const texts = collectTexts(analysis, edgesInto.get(analysis.file) ?? [], context);
    return rules.policy.flatMap((entry, index) => {
      const states = namedStates(entry).map(([, name]) => analysis.names.fileOf(name));
      const lacksPayload = typeof entry.payload === 'string' && !text.includes(entry.payload);
      const isMentioned = isTagged(entry.tag, states) || isMentionedIn(texts, entry.tag, states);
      if (!lacksPayload && (states.includes(undefined) || isMentioned)) return [];
      // The agent need not know transitions that only an evaluator chooses.
      if (overrides.some((edge) => isSameTransition(edge, entry, states))) return [];
      const at = analysis.source.entries[index]?.at ?? WHOLE_FILE;
      const message = `the prompt never mentions \`${formatPolicyTag(entry)}\`, which its \`allowed_transitions\` permit`;
      return [{ file: analysis.file, at, message, hint: hintFor(entry, rules.policy.length) }];
    });
  });
});

const isSameTransition = (edge: Edge, { tag, payload = null }: PolicyEntry, states: States): boolean =>
  edge.tag === tag &&
  (payload === null || edge.payload === payload) &&
  JSON.stringify(targetsOf(edge).map((target) => (target.kind === 'state' ? target.file : null))) ===
    JSON.stringify(states);

type States = readonly (string | undefined)[];

/** Makes a check for tags of a prompt that name these states: most entries are mentioned so. */
function createTagCheck({ tags, names }: StateAnalysis): (tag: TagName, states: States) => boolean {
  const keyOf = (tag: TagName, states: States): string => JSON.stringify([tag, ...states]);
  const present = tags.map(({ name, tag: { body, attributes } }) => {
    const named = [
      TRANSITIONS[name].body === 'state' ? body : undefined,
      ...STATE_ATTRIBUTES.filter((key) => takesAttribute(name, key)).map((key) => attributes[key]),
    ];
    return keyOf(
      name,
      named.filter((each) => each !== undefined).map((each) => names.fileOf(each)),
    );
  });
  return (tag, states) => present.includes(keyOf(tag, states));
}

function hintFor({ tag, target, attributes }: PolicyEntry, entries: number): string {
  const { body, required } = TRANSITIONS[tag];
  const missing = [
    ...(body !== 'text' && target === null ? ['target'] : []),
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
  const isContinued = file !== graph.entry && into.every(({ tag }) => CONTINUING_TAGS.has(tag));
  const before = isContinued ? into.map(({ from }) => analysisOf.get(from)?.source.state.text ?? '') : [];
  return [text, appendSystemPrompt ?? '', ...before].join('\n');
}

/** The tags that continue a conversation. */
const CONTINUING_TAGS: ReadonlySet<TagName> = new Set(['goto', 'join', 'call', 'call-workflow', 'ask']);

/** True if a text has the names of states, not counting tags of another kind; without states, the name of the tag. */
function isMentionedIn(text: string, tag: TagName, states: States): boolean {
  const isWordIn = (where: string): boolean => new RegExp(`\\b${tag}\\b`, 'i').test(where);
  if (states.length === 0) return isWordIn(text);
  const shown = isWordIn(stripTags(text)) ? text : stripTags(text, tag);
  const files = states.map((state = '') => fileInWorkflow(state));
  return files.every((file) => isNamedIn(file, shown) || isNamedIn(stem(file), shown));
}

/** True if a name stands in a text by itself. Names in scripts that put no blanks between words may stand anywhere. */
function isNamedIn(name: string, text: string): boolean {
  if (!text.includes(name) || !/^[\w.-]+$/.test(name)) return text.includes(name);
  return new RegExp(`(?<![\\w-]|[\\w-]\\.)${name.replaceAll('.', '\\.')}(?![\\w-]|\\.[\\w-])`).test(text);
}
