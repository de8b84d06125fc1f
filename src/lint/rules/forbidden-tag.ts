import { type PolicyEntry, permits } from '../../core/policy.ts';
import { formatPolicyTag } from '../../core/reminder.ts';
import type { Tag } from '../../core/tag.ts';
import { hasUnknownPart } from '../../core/tag-mentions.ts';
import { findForkContinuations } from '../../graph/edges.ts';
import type { PlacedTag, StateAnalysis } from '../../graph/state-analysis.ts';
import type { StateResolver } from '../../graph/state-resolver.ts';
import { quoteTagWithAttributes } from '../messages.ts';
import { correctStateNames } from '../misrequested-entries.ts';
import { rulePerState } from '../rule.ts';

/** A prompt asks for a tag that its policy does not permit. */
export const forbiddenTag = rulePerState('forbidden-tag', 'warning', (analysis, { names }) => {
  if (analysis.broken || analysis.source.state.rules.policy.length === 0) return [];
  const seen = new Set<string>();
  return analysis.forms.flatMap((placed) => {
    const shown = quoteTagWithAttributes(placed.name, placed.tag);
    if (!placed.sure || seen.has(shown) || isInexact(placed, names) || isPermitted(analysis, placed, names)) return [];
    seen.add(shown);
    const closest = findClosestEntry(analysis.source.state.rules.policy, placed, names);
    const permitted = closest === undefined ? '' : `; they permit \`${formatPolicyTag(closest)}\``;
    const message = `the prompt asks for ${shown}, which its \`allowed_transitions\` do not permit${permitted}`;
    return [
      {
        file: analysis.file,
        at: placed.at,
        message,
        hint: 'Add it to the `allowed_transitions`, or take it out of the prompt.',
      },
    ];
  });
});

/** The entry that comes closest: with the same tag, and the same state if there is one. */
function findClosestEntry(
  policy: readonly PolicyEntry[],
  { name, tag }: PlacedTag,
  names: StateResolver,
): PolicyEntry | undefined {
  const sameTag = policy.filter((entry) => entry.tag === name);
  const fileOf = (state: string): string => {
    const found = names.resolve(state.trim());
    return found.kind === 'found' ? found.file : state;
  };
  const isSame = ({ target }: PolicyEntry): boolean => target !== null && fileOf(target) === fileOf(tag.body);
  return sameTag.find(isSame) ?? policy.find(isSame) ?? sameTag[0];
}

/** What is not exact, or names no state, is nothing to compare. */
function isInexact({ name, tag }: PlacedTag, names: StateResolver): boolean {
  const { return: returnState, next } = tag.attributes;
  const states = [...(name === 'result' ? [] : [tag.body]), returnState, next].filter((each) => each !== undefined);
  const unknown = states.some((state) => names.resolve(state.trim()).kind !== 'found');
  const hasUnknownValue = Object.values(tag.attributes).some(hasUnknownPart);
  return unknown || hasUnknownValue || ((name === 'call' || name === 'function') && returnState === undefined);
}

/** A fork that leaves its `next` to others is permitted if it is with one of theirs. */
function isPermitted(analysis: StateAnalysis, { name, tag }: PlacedTag, names: StateResolver): boolean {
  const { policy } = analysis.source.state.rules;
  const continuations =
    name === 'fork' && tag.attributes.next === undefined ? findForkContinuations(analysis.forms) : [];
  const candidates = continuations.map((next): Tag => ({ ...tag, attributes: { ...tag.attributes, next } }));
  return (candidates.length > 0 ? candidates : [tag]).some((each) => {
    const states = [each.body, each.attributes.return ?? '', each.attributes.next ?? ''];
    const sameTag = policy.filter((entry) => entry.tag === name).map((entry) => correctStateNames(entry, names));
    const policyStates = sameTag.flatMap(({ target, attributes }) => [
      target ?? '',
      attributes.return ?? '',
      attributes.next ?? '',
    ]);
    return sameTag.length > 0 && permits(sameTag, each, names.scopeOf([...states, ...policyStates]));
  });
}
