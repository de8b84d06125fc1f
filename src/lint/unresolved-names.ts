import { uniqueBy } from '../graph/group-by.ts';
import { findMatchingStates, isNameDecidedAtRuntime, isUnlikelyStateName } from '../graph/partial-names.ts';
import type { PlacedTag, StateAnalysis } from '../graph/state-analysis.ts';
import { formatNamePattern, type StateResolver } from '../graph/state-resolver.ts';
import { namedStates } from '../language/policy.ts';
import type { Resolution } from '../language/state-names.ts';
import { isBuiltInAttribute, STATE_ATTRIBUTES } from '../language/tags/tag.ts';
import { memoize } from '../language/text/memoize.ts';
import { type TextPosition, WHOLE_FILE } from '../language/text/text.ts';
import { TRANSITIONS, takesAttribute } from '../language/transitions/index.ts';
import { quoteTag } from './messages.ts';
import { defineStateRule, type LintLevel, levelForTag, type Rule, type RuleContext } from './rule.ts';

type Unresolved = Exclude<Resolution, { kind: 'found' }>;

/** A name in a state's file that leads to no state, and why. */
interface UnresolvedName {
  readonly name: string;
  readonly at: TextPosition;
  /** The key or the tag that has the name, for the beginning of a message. */
  readonly shown: string;
  readonly level: LintLevel;
  readonly found: Unresolved;
  /** The hint, if it follows from the file itself. */
  readonly hint?: string;
}

/** Makes a rule about names that lead to no state for a certain reason; it reports each name once in a file. */
export const defineNameRule = <const Id extends string, const Superseded extends string = never>(
  head: Pick<Rule<Id, Superseded>, 'id' | 'supersedes' | 'blocksStart'> & { readonly reason: Unresolved['kind'] },
  hintFor: (name: string, analysis: StateAnalysis, context: RuleContext) => string,
): Rule<Id, Superseded> =>
  defineStateRule({ ...head, level: 'error' }, (analysis, context) => {
    const unresolved = findUnresolvedNames(context).get(analysis) ?? [];
    const selected = unresolved.filter(({ found }) => found.kind === head.reason);
    return uniqueBy(selected, ({ name }) => name).map(({ name, at, shown, level, found, hint }) => {
      return { at, message: `${shown}: ${found.message}`, hint: hint ?? hintFor(name, analysis, context), level };
    });
  });

/** Several rules ask for the same names: each state is looked through once. */
const findUnresolvedNames = memoize(
  ({ analyses }: RuleContext) => new Map(analyses.map((analysis) => [analysis, collectUnresolvedNames(analysis)])),
);

function collectUnresolvedNames(analysis: StateAnalysis): readonly UnresolvedName[] {
  const { names } = analysis;
  const { state, entries } = analysis.source;
  const inPolicy = state.rules.policy.flatMap((entry, index) =>
    namedStates(entry).flatMap(([key, name]): UnresolvedName[] => {
      const found = names.resolve(name);
      const at = entries[index]?.keys[key] ?? entries[index]?.at ?? WHOLE_FILE;
      return found.kind === 'found' ? [] : [{ name, at, shown: `\`${key}\``, level: 'error', found }];
    }),
  );
  const inGuards = Object.entries(state.rules.guards?.on ?? {}).flatMap(([outcome, name]): UnresolvedName[] => {
    const found = names.resolve(name);
    const key = `on.${outcome}`;
    const at = analysis.source.keys[key] ?? WHOLE_FILE;
    return found.kind === 'found' ? [] : [{ name, at, shown: `\`${key}\``, level: 'error', found }];
  });
  return [
    ...inPolicy,
    ...inGuards,
    ...analysis.expandedTags.flatMap((placed) => findUnresolvedInTag(placed, analysis, names)),
  ];
}

function findUnresolvedInTag(
  placed: PlacedTag,
  analysis: StateAnalysis,
  names: StateResolver,
): readonly UnresolvedName[] {
  const { name, tag, sure, namesAt } = placed;
  const stateKeys = STATE_ATTRIBUTES.filter((key) => takesAttribute(name, key));
  const keys = TRANSITIONS[name].body === 'state' ? (['', ...stateKeys] as const) : stateKeys;
  const level = levelForTag(analysis);
  return keys.flatMap((key): readonly UnresolvedName[] => {
    const state = (key === '' ? tag.body : (tag.attributes[key] ?? '')).trim();
    const found = names.resolve(state);
    if (!sure || found.kind === 'found') return [];
    const at = namesAt?.[key] ?? placed.at;
    // A missing attribute is reported by `missing-attribute`.
    if (state === '') return key === '' ? describeEmptyName(placed, analysis, names) : [];
    const shown = quoteTag(name, tag) + (key === '' ? '' : `: \`${key}\``);
    if (findMatchingStates(state, analysis, names)?.length === 0) {
      const message = `no state of this workflow is named like \`${formatNamePattern(state)}\``;
      const hint = 'Add such a state, or correct the known part of the name.';
      return [{ name: state, at, shown, level: 'warning', found: { kind: 'unknown', message }, hint }];
    }
    if (isNameDecidedAtRuntime(state, analysis) || isUnlikelyStateName(state, placed, names)) return [];
    const misplaced = key === '' ? findStateInAttribute(placed, names)?.[1] : undefined;
    const hint = misplaced === undefined ? {} : { hint: `Write ${misplaced.trim()} between the tags.` };
    return [{ name: state, at, shown, level, found, ...hint }];
  });
}

/** The attribute of one's own in which a tag has the name of a state, with that name. */
const findStateInAttribute = (
  { name, tag }: Pick<PlacedTag, 'name' | 'tag'>,
  names: StateResolver,
): readonly [string, string] | undefined =>
  Object.entries(tag.attributes).find(
    ([key, value]) => !isBuiltInAttribute(name, key) && names.fileOf(value) !== undefined,
  );

/** Describes a tag without a name. In a prompt it may stand for any tag of its kind, unless an attribute has the name. */
function describeEmptyName(
  { name, tag, at }: PlacedTag,
  analysis: StateAnalysis,
  names: StateResolver,
): readonly UnresolvedName[] {
  const [key, state = ''] = findStateInAttribute({ name, tag }, names) ?? [];
  if (key === undefined && analysis.kind === 'prompt') return [];
  const found = { kind: 'unknown', message: 'the name of the state is empty' } as const;
  const shown = key === undefined ? `\`<${name}></${name}>\`` : `\`<${name} ${key}="${state}">\``;
  const hint =
    key === undefined ? 'Write the name of a state between the tags.' : `Write <${name}>${state.trim()}</${name}>.`;
  return [{ name: '', at, shown, hint, level: levelForTag(analysis), found }];
}
