import { hasOpenState, implicitTag, namedStates, type Policy, type PolicyEntry, permits } from '../language/policy.ts';
import { STATE_ATTRIBUTES, type Tag } from '../language/tags/tag.ts';
import { hasUnknownPart, UNKNOWN } from '../language/tags/tag-mentions.ts';
import { type TextPosition, WHOLE_FILE } from '../language/text/text.ts';
import {
  isContinuation,
  namesakeOf,
  startsWorkers,
  type TagName,
  TRANSITIONS,
  takesAttribute,
} from '../language/transitions/index.ts';
import type { Transition } from '../language/transitions/transition.ts';
import { commonVariables, variablesIn } from './fork-variables.ts';
import { type Edge, type EdgeTarget, targetsOf, termsIn } from './graph.ts';
import { uniqueBy } from './group-by.ts';
import {
  type CandidateTag,
  expandCandidates,
  findMatchingStates,
  isNameDecidedAtRuntime,
  isUnlikelyStateName,
} from './partial-names.ts';
import { findLiteralWords } from './prompt-tags.ts';
import type { PlacedTag, StateAnalysis } from './state-analysis.ts';
import { formatNamePattern, type StateResolver } from './state-resolver.ts';

/** Finds the transitions of one state: those of its policy, else those that its text mentions. */
export function findStateEdges(analysis: StateAnalysis, resetStack: 'keep' | 'clear'): readonly Edge[] {
  const { policy } = analysis.source.state.rules;
  const builder = new EdgeBuilder(analysis, resetStack);
  if (policy.length > 0)
    return policy.flatMap((entry, index) => (builder.canAnswer(entry) ? builder.fromPolicyEntry(entry, index) : []));
  const edges = unique([
    ...builder.expandedTags.flatMap((tag) => builder.fromExpandedTag(tag)),
    ...builder.fromUnclosedTags(),
    ...builder.fromTagsInCode(),
  ]);
  return edges.length > 0 || analysis.open || analysis.kind === 'script' ? edges : builder.fromNamesInProse();
}

/** Makes the edge of the transition that a pattern takes instead of what the state answers. */
export const findPatternEdge = (analysis: StateAnalysis, instead: PolicyEntry, resetStack: 'keep' | 'clear'): Edge =>
  new EdgeBuilder(analysis, resetStack).fromPattern(instead);

/** Collects the names of the states in which the parent of forks may continue, from the tags of a text. */
export function findForkContinuations(tags: readonly PlacedTag[]): readonly string[] {
  const names = tags.flatMap(({ name, tag }) =>
    isContinuation(name) ? tag.body : startsWorkers(name) ? (tag.attributes.next ?? []) : [],
  );
  return [...new Set(names.map((name) => name.trim()))];
}

/** Collects them from the paths of a script, if all paths are known. */
function findContinuationsBesideForks({ paths }: StateAnalysis): readonly string[] | undefined {
  if (paths === undefined || paths.outputs.some(({ kind }) => kind === 'uncertain' || kind === 'unknown'))
    return undefined;
  const outputsWithForks = paths.outputs.filter(
    (output) => output.kind === 'forks' || (output.kind === 'single' && output.besideForks),
  );
  const found = outputsWithForks.flatMap((output) => ('continuation' in output ? (output.continuation ?? []) : []));
  return found.length === 0 ? undefined : [...new Set(found)];
}

/** More continuations than these count as any state. */
const MAX_CONTINUATIONS = 8;

const NO_TARGET: EdgeTarget = { kind: 'missing', name: '', meant: null };

class EdgeBuilder {
  /** The tags of the text, with the states that fit names of which only a part is known. */
  readonly expandedTags: readonly CandidateTag[];
  private readonly analysis: StateAnalysis;
  private readonly names: StateResolver;
  private readonly resetStack: 'keep' | 'clear';
  private readonly continuations: readonly string[];
  private readonly mentionsInput: boolean;

  constructor(analysis: StateAnalysis, resetStack: 'keep' | 'clear') {
    const { names } = analysis;
    this.analysis = analysis;
    this.names = names;
    this.resetStack = resetStack;
    this.expandedTags = analysis.expandedTags.flatMap((tag) => expandCandidates(tag, analysis, names));
    this.continuations = findContinuationsBesideForks(analysis) ?? findForkContinuations(this.expandedTags);
    const { text } = analysis.source.state;
    this.mentionsInput = analysis.kind === 'prompt' && text.includes('input') && findLiteralWords(text).has('input');
  }

  /** True if a state may answer with an entry: a script whose tags are all known, only with one that it prints. */
  canAnswer(entry: PolicyEntry): boolean {
    const { kind, open } = this.analysis;
    const isUnknown = ({ tag, isPartial }: CandidateTag): boolean =>
      isPartial || [tag.body, ...Object.values(tag.attributes)].some(hasUnknownPart);
    const lacksNext = ({ name, tag }: CandidateTag): boolean =>
      startsWorkers(name) && tag.attributes.next === undefined;
    const mayPrint = (tag: CandidateTag): boolean => isUnknown(tag) || lacksNext(tag) || this.matches(entry, tag);
    return kind === 'prompt' || open || this.expandedTags.some(mayPrint);
  }

  fromPolicyEntry(entry: PolicyEntry, index: number): readonly Edge[] {
    const { policy } = this.analysis.source.state.rules;
    const { attributes, tag: name } = entry;
    const attributeSets = this.analysis.tags
      .filter(hasOtherAttributes)
      .filter((placed) => this.matches(entry, placed))
      .map(attributesOf);
    const stack = attributes.stack ?? attributeSets.find((each) => each.stack !== undefined)?.stack;
    const handsOver = attributeSets.some(hasInput) || this.mentionsInput;
    const edge: Edge = {
      ...this.edge(name, this.analysis.source.entries[index]?.at ?? WHOLE_FILE),
      ...this.targets(name, entry.target, attributes),
      payload: entry.payload ?? null,
      clearsStack: this.clearsStack(name, stack),
      origin: this.analysis.kind === 'script' || implicitTag(policy) === undefined ? 'policy' : 'implicit',
      passesInput: passesInput(name, attributes, handsOver),
      variables: this.variablesOfEntry(entry),
      terms: termsIn(name, [attributes, ...attributeSets]),
    };
    const timeouts = attributeSets.flatMap((each) => this.fromTimeout(edge, each));
    const own = unique([edge, ...this.fromTimeout(edge, attributes), ...timeouts]);
    return [...own, ...unique(this.fromOpenEntry(entry))];
  }

  /** The variables that a fork which the entry permits sets for sure: those that all such tags of the text give. */
  private variablesOfEntry(entry: PolicyEntry): readonly string[] {
    const { tag: name, attributes } = entry;
    const written = this.expandedTags.filter(
      (placed) => placed.sure && Object.keys(placed.tag.attributes).length > 0 && this.matches(entry, placed),
    );
    if (written.length === 0) return variablesIn(name, [attributes]);
    return commonVariables(written.map(({ tag }) => variablesIn(name, [{ ...attributes, ...tag.attributes }])));
  }

  /** Makes the edge that is taken when the time is over, if the tag has one. */
  private fromTimeout(edge: Edge, attributes: Readonly<Record<string, string>>): readonly Edge[] {
    const next = takesAttribute(edge.tag, 'timeout_next') ? attributes.timeout_next : undefined;
    if (next === undefined) return [];
    return [{ ...edge, to: this.target(next), timesOut: true, passesInput: 'never', terms: [] }];
  }

  fromPattern({ tag, target, attributes, payload = null }: PolicyEntry): Edge {
    return {
      ...this.edge(tag, WHOLE_FILE),
      ...this.targets(tag, target, attributes),
      payload,
      clearsStack: this.clearsStack(tag, attributes.stack),
      origin: 'policy',
      passesInput: passesInput(tag, attributes, false),
      variables: variablesIn(tag, [attributes]),
      terms: termsIn(tag, [attributes]),
    };
  }

  /** Makes the edges of a tag, unless its name is hardly meant as that of a state. */
  fromExpandedTag(placed: CandidateTag): readonly Edge[] {
    const { name, tag } = placed;
    const isMeant = TRANSITIONS[name].body !== 'state' || !isUnlikelyStateName(tag.body.trim(), placed, this.names);
    return isMeant ? this.fromTag(placed) : [];
  }

  /** Makes edges for the tags in the text that an entry permits, if the entry leaves the state to the agent. */
  private fromOpenEntry(entry: PolicyEntry): readonly Edge[] {
    if (!hasOpenState(entry)) return [];
    const requested = this.expandedTags.filter((placed) => placed.sure && this.matches(entry, placed));
    return requested.flatMap((placed) => this.fromTag(placed)).filter(leadsToStatesOnly);
  }

  /** Makes the edges of a tag in the text: one, unless it is a fork that leaves its `next` to other tags. */
  fromTag({ name, tag, at, isPartial }: CandidateTag): readonly Edge[] {
    const { attributes } = tag;
    const unclear = Object.keys(attributes).some(hasUnknownPart);
    const base = {
      ...this.edge(name, at),
      ...this.targets(name, tag.body, attributes),
      clearsStack: this.clearsStack(name, attributes.stack),
      origin: isPartial ? 'partial-name' : 'text',
      passesInput: passesInput(name, attributes, this.mentionsInput || unclear),
      variables: variablesIn(name, [attributes]),
      terms: termsIn(name, [attributes]),
    } as const;
    if (!startsWorkers(name) || attributes.next !== undefined) return [base, ...this.fromTimeout(base, attributes)];
    if (this.continuations.length === 0) return [{ ...base, next: NO_TARGET }];
    if (this.continuations.length > MAX_CONTINUATIONS) return [{ ...base, next: ANY_TARGET, borrowsNext: true }];
    return this.continuations.map((state) => ({ ...base, next: this.target(state), borrowsNext: true }));
  }

  /** Makes edges for tags that are opened and not closed, as in "answer with a <result>". */
  fromUnclosedTags(): readonly Edge[] {
    return this.analysis.unclosedTags.flatMap(({ name, after, at }) => {
      if (this.analysis.tags.some((each) => each.name === name)) return [];
      const known = this.names.fileOf(after) !== undefined;
      const { body } = TRANSITIONS[name];
      const namesNothing = body === 'text' && name !== 'ask';
      const to = namesNothing ? null : known && body === 'state' ? this.target(after) : ANY_TARGET;
      const { required }: Transition = TRANSITIONS[name];
      const targetOfAttribute = (key: 'return' | 'next') =>
        name !== 'ask' && required.some((each) => each === key) ? ANY_TARGET : null;
      // A fork that is only talked about may set any variable.
      const variables = startsWorkers(name) ? [UNKNOWN] : [];
      return [
        { ...this.edge(name, at), to, return: targetOfAttribute('return'), next: targetOfAttribute('next'), variables },
      ];
    });
  }

  /** Makes edges for tags in code, which may be examples or meant as answers. */
  fromTagsInCode(): readonly Edge[] {
    const edges = this.analysis.tagsInCode.flatMap((tag) => this.fromTag({ ...tag, isPartial: false }));
    return edges.filter(leadsToStatesOnly).map((edge) => ({ ...edge, origin: 'mentioned' }));
  }

  /** Makes edges to the states that a prompt without any tag mentions. */
  fromNamesInProse(): readonly Edge[] {
    const words = new Set(this.analysis.source.state.text.match(/[\w-]+(?:\.[\w-]+)*/g) ?? []);
    const files = [...words].flatMap((word) => {
      const found = this.names.scopeOf([word]).files.length > 0 ? this.names.resolve(word) : undefined;
      return found?.kind === 'found' && found.file !== this.analysis.file ? found.file : [];
    });
    return [...new Set(files)].map((file) => {
      return { ...this.edge('goto', WHOLE_FILE), origin: 'mentioned', to: { kind: 'state', file } };
    });
  }

  private edge(tag: TagName, at: TextPosition): Edge {
    const { file: from } = this.analysis;
    const targets = { to: null, return: null, next: null } as const;
    const flags = {
      payload: null,
      borrowsNext: false,
      timesOut: false,
      clearsStack: false,
      guard: null,
      evaluator: null,
    };
    return { from, tag, ...targets, ...flags, origin: 'text', at, passesInput: 'never', variables: [], terms: [] };
  }

  private targets(name: TagName, target: string | null, attributes: Readonly<Record<string, string>>) {
    const { body, required }: Transition = TRANSITIONS[name];
    const inPolicy = this.analysis.source.state.rules.policy.length > 0;
    const targetOfAttribute = (key: 'return' | 'next'): EdgeTarget | null => {
      if (!required.includes(key)) return null;
      const written = attributes[key];
      return written === undefined ? (inPolicy ? ANY_TARGET : NO_TARGET) : this.target(written);
    };
    // A question leads to where its answer goes.
    if (name === 'ask') return { to: targetOfAttribute('next'), return: null, next: null };
    const to = target === null ? ANY_TARGET : body === 'workflow' ? this.workflowTarget(target) : this.target(target);
    return { to: body === 'text' ? null : to, return: targetOfAttribute('return'), next: targetOfAttribute('next') };
  }

  private workflowTarget(spec: string): EdgeTarget {
    const found = this.names.resolveSpec(spec);
    if (found?.kind === 'found') return { kind: 'state', file: found.file };
    const name = spec.trim();
    if (hasUnknownPart(name) || isNameDecidedAtRuntime(name, this.analysis)) return { kind: 'any', written: name };
    return { kind: 'missing', name, meant: null };
  }

  private target(written: string): EdgeTarget {
    const name = written.trim();
    const found = this.names.resolve(name);
    if (found.kind === 'found') return { kind: 'state', file: found.file };
    if (findMatchingStates(name, this.analysis, this.names)?.length === 0) {
      return { kind: 'missing', name: formatNamePattern(name), meant: null };
    }
    // A variable between single quotes is a mistake, but its value is not known.
    const isComputed = this.analysis.kind === 'script' && (name === '' || hasUnknownPart(name) || name.includes('$'));
    if (isComputed || isNameDecidedAtRuntime(name, this.analysis)) return { kind: 'any', written: name };
    const meant = this.names.suggest(name);
    if (found.kind !== 'ambiguous') return { kind: 'missing', name, meant };
    return { kind: 'missing', name, meant, others: this.names.candidatesFor(name).filter((file) => file !== meant) };
  }

  private matches(entry: PolicyEntry, { name, tag }: PlacedTag): boolean {
    return entry.tag === name && permitsTag([entry], tag, this.names);
  }

  private clearsStack(name: TagName, stack: string | undefined): boolean {
    return namesakeOf(name) === 'reset' && (stack ?? TRANSITIONS[name].defaultStack ?? this.resetStack) === 'clear';
  }
}

/** True if a policy of these entries permits a tag. */
export function permitsTag(entries: Policy, tag: Tag, names: StateResolver): boolean {
  const written = [tag.body, ...STATE_ATTRIBUTES.map((key) => tag.attributes[key])].filter(
    (name) => name !== undefined,
  );
  const named = entries.flatMap((entry) => namedStates(entry).map(([, name]) => name));
  return permits(entries, tag, names.scopeOf([...written, ...named]));
}

/** Checks that all states of an edge exist. */
const leadsToStatesOnly = (edge: Edge): boolean => targetsOf(edge).every(({ kind }) => kind === 'state');

const attributesOf = ({ tag }: PlacedTag) => tag.attributes;

/** True if a tag has attributes other than the states that it leads to. */
const hasOtherAttributes = ({ tag }: PlacedTag): boolean =>
  Object.keys(tag.attributes).some((key) => !(STATE_ATTRIBUTES as readonly string[]).includes(key));

const ANY_TARGET: EdgeTarget = { kind: 'any', written: '' };

/** Drops edges that differ from an earlier one only in their position and origin. */
const unique = (edges: readonly Edge[]): readonly Edge[] =>
  uniqueBy(edges, (edge) => JSON.stringify({ ...edge, at: null, origin: null }));

type Attributes = Readonly<Record<string, string>>;

/** True if a tag with these attributes has an input. */
const hasInput = (attributes: Attributes): boolean =>
  attributes.input !== undefined || attributes['input-file'] !== undefined;

/** True if a tag hands an input over. The answer to a question is one, and an item of a `<fork-each>` may have one. */
function passesInput(tag: TagName, attributes: Attributes, perhaps: boolean): Edge['passesInput'] {
  if (tag === 'ask' || hasInput(attributes)) return 'always';
  return perhaps || tag === 'fork-each' ? 'perhaps' : 'never';
}
