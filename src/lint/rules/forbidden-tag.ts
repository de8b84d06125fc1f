import { findForkContinuations, permitsTag } from '../../graph/edges.ts';
import { uniqueBy } from '../../graph/group-by.ts';
import type { PlacedTag, StateAnalysis } from '../../graph/state-analysis.ts';
import type { StateResolver } from '../../graph/state-resolver.ts';
import { fileInWorkflow } from '../../language/named-workflows.ts';
import { namedStates, type Policy, type PolicyEntry } from '../../language/policy.ts';
import { formatPolicyTag } from '../../language/reminder.ts';
import { STATE_ATTRIBUTES } from '../../language/tags/tag.ts';
import { hasUnknownPart } from '../../language/tags/tag-mentions.ts';
import { startsWorkers, TRANSITIONS, takesAttribute } from '../../language/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { quoteTagWithAttributes } from '../messages.ts';
import { defineStateRule, type RuleContext, type RuleFinding } from '../rule.ts';

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
