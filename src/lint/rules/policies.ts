import { findForkContinuations, permitsTag } from '../../graph/edges.ts';
import { type Edge, targetsOf } from '../../graph/graph.ts';
import { groupBy, uniqueBy } from '../../graph/group-by.ts';
import type { PlacedTag, StateAnalysis } from '../../graph/state-analysis.ts';
import type { StateResolver } from '../../graph/state-resolver.ts';
import { fileInWorkflow } from '../../language/named-workflows.ts';
import { implicitTag, namedStates, type Policy, type PolicyEntry } from '../../language/policy.ts';
import { formatPolicyTag } from '../../language/reminder.ts';
import { stem } from '../../language/state-names.ts';
import { STATE_ATTRIBUTES } from '../../language/tags/tag.ts';
import { hasUnknownPart, stripTags } from '../../language/tags/tag-mentions.ts';
import { WHOLE_FILE } from '../../language/text/text.ts';
import { startsWorkers, type TagName, TRANSITIONS, takesAttribute } from '../../language/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { quoteTagWithAttributes } from '../messages.ts';
import { defineRule, defineStateRule, type RuleContext, type RuleFinding } from '../rule.ts';

/** A state has a tag that its policy does not permit. */
export const forbiddenTag = defineStateRule(
  { id: 'forbidden-tag', level: 'warning', supersedes: ['unmentioned-entry', 'unreachable-state', ...CYCLE_RULES] },
  (analysis, context) => {
    const { names } = analysis;
    if (context.graph.mereEvaluators.has(analysis.file)) return findForbiddenOverrides(analysis, context);
    const { policy } = analysis.source.state.rules;
    if (analysis.broken || policy.length === 0) return [];
    const corrected = policy.map((entry) => correctStates(entry, names));
    const forbidden = analysis.expandedTags.filter(
      (placed) => placed.sure && isExact(placed, names) && !isPermitted(placed, corrected, analysis, names),
    );
    return uniqueBy(forbidden, ({ name, tag }) => quoteTagWithAttributes(name, tag)).map((placed) => {
      const shown = quoteTagWithAttributes(placed.name, placed.tag);
      const closest = findClosestEntry(policy, placed, names);
      const permitted = closest === undefined ? '' : `; they permit \`${formatPolicyTag(closest)}\``;
      const [does, it] = analysis.kind === 'script' ? ['script prints', 'script'] : ['prompt mentions', 'prompt'];
      const message = `the ${does} ${shown}, which its \`allowed_transitions\` do not permit${permitted}`;
      const hint = `Add it to the \`allowed_transitions\`, or take it out of the ${it}.`;
      return { at: placed.at, message, hint };
    });
  },
);

/** Finds the tags of an evaluator that a state whose answers it evaluates does not permit. */
function findForbiddenOverrides(
  analysis: StateAnalysis,
  { graph, analysisOf }: RuleContext,
): readonly Omit<RuleFinding, 'file'>[] {
  const { names } = analysis;
  const states = new Set(graph.evaluatorUses.filter((use) => use.file === analysis.file).map(({ state }) => state));
  const tags = analysis.expandedTags.filter((placed) => placed.sure && isExact(placed, names));
  return [...states].flatMap((state) => {
    const { policy = [] } = analysisOf.get(state)?.source.state.rules ?? {};
    if (policy.length === 0) return [];
    const corrected = policy.map((entry) => correctStates(entry, names));
    const forbidden = tags.filter((placed) => !isPermitted(placed, corrected, analysis, names));
    return uniqueBy(forbidden, ({ name, tag }) => quoteTagWithAttributes(name, tag)).map(({ name, tag, at }) => {
      const shown = quoteTagWithAttributes(name, tag);
      const message = `this evaluator has ${shown}, which the \`allowed_transitions\` of ${state} do not permit`;
      return { at, message, hint: `Add it to the \`allowed_transitions\` of ${state}, or take it out here.` };
    });
  });
}

/** Finds the entry that comes closest: with the same tag, and the same state if there is one. */
function findClosestEntry(
  policy: readonly PolicyEntry[],
  { name, tag }: PlacedTag,
  names: StateResolver,
): PolicyEntry | undefined {
  const sameTag = policy.filter((entry) => entry.tag === name);
  const file = names.fileOf(tag.body) ?? tag.body;
  const isSame = ({ target }: PolicyEntry): boolean => target !== null && (names.fileOf(target) ?? target) === file;
  return sameTag.find(isSame) ?? policy.find(isSame) ?? sameTag[0];
}

/** Checks that all of a tag is known and its states exist: other rules report what is missing. */
function isExact({ name, tag }: PlacedTag, names: StateResolver): boolean {
  const { return: back } = tag.attributes;
  const named = STATE_ATTRIBUTES.filter((key) => takesAttribute(name, key)).map((key) => tag.attributes[key]);
  const states = [...(TRANSITIONS[name].body === 'state' ? [tag.body] : []), ...named].filter(
    (each) => each !== undefined,
  );
  const lacksReturn = TRANSITIONS[name].required.some((key) => key === 'return') && back === undefined;
  return (
    !lacksReturn &&
    !Object.values(tag.attributes).some(hasUnknownPart) &&
    states.every((state) => names.fileOf(state) !== undefined)
  );
}

/** True if the policy of a prompt permits a tag: a fork without `next` if it does so with one that stands beside it. */
function isPermitted({ name, tag }: PlacedTag, policy: Policy, analysis: StateAnalysis, names: StateResolver): boolean {
  const entries = policy.filter((entry) => entry.tag === name);
  const isOpenFork = startsWorkers(name) && tag.attributes.next === undefined;
  const nexts = isOpenFork ? findForkContinuations(analysis.expandedTags) : [];
  const tags = nexts.map((next) => ({ ...tag, attributes: { ...tag.attributes, next } }));
  return entries.length > 0 && (nexts.length > 0 ? tags : [tag]).some((each) => permitsTag(entries, each, names));
}

/** Replaces misspelt states of an entry by those that are meant: the mistake is reported in the policy. */
function correctStates(entry: PolicyEntry, names: StateResolver): PolicyEntry {
  const states = namedStates(entry).map(([key, name]) => [key, fileInWorkflow(names.intendedFile(name))] as const);
  const { target = entry.target, ...others } = Object.fromEntries(states);
  return { ...entry, target, attributes: { ...entry.attributes, ...others } };
}

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
