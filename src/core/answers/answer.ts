import { normalizeEffort, normalizeModel } from '../../language/claude-values.ts';
import { type EnteredWorkflow, nameState, workflowNameOf } from '../../language/named-workflows.ts';
import { findEntry, implicitTag, type Policy } from '../../language/policy.ts';
import { type AnswerProblem, answerProblem, shortenForMessage } from '../../language/problem.ts';
import { type Platform, resolveState } from '../../language/state-names.ts';
import { readJoinTerms } from '../../language/tags/join-terms.ts';
import {
  completeByPolicy,
  findOverruledTags,
  notPermittedProblem,
  type ResolvedTag,
} from '../../language/tags/permitted-tags.ts';
import { isBuiltInAttribute, isOwnAttribute, readTags, STATE_ATTRIBUTES, type Tag } from '../../language/tags/tag.ts';
import { quoteAnswerTag } from '../../language/tags/tag-mentions.ts';
import { describeJsonProblem, tryParseJson } from '../../language/text/json.ts';
import {
  isAttributeWord,
  isTagName,
  TAG_NAMES,
  type TagName,
  TRANSITIONS,
  takesAttribute,
} from '../../language/transitions/index.ts';
import type { ForkItem, Transition } from '../../language/transitions/transition.ts';
import { variableNameProblem } from '../../language/variable-names.ts';
import { applyResultCheck } from './checked-results.ts';
import type { LookedUp } from './looked-up.ts';
import { checkTagCombination, findWorkerProblem, mergeDuplicateTags } from './tag-combination.ts';

/** The context that an answer's meaning depends on. */
export interface AnswerContext extends LookedUp {
  readonly policy: Policy;
  /** The state that gave the answer: the states that it names belong to the same workflow. */
  readonly state: string;
  /** The number of workflows around its own, and the most there may be; null for no limit. */
  readonly nesting: number;
  readonly maxDepth: number | null;
  /** The default effect of `<reset>` on the return stack. */
  readonly resetStack: 'keep' | 'clear';
  /** The most forks that it may have; null for no limit. */
  readonly maxForks: number | null;
  /** When the only permitted transition is taken without a tag: never, if the answer has none, or whatever it has. */
  readonly implicit: 'never' | 'without_tag' | 'always';
  /** The variables for the templates of the policy. */
  readonly variables: Readonly<Record<string, string>>;
  /** How many workers the agent has that it can join, of this group or of all. */
  readonly openWorkers: (group: string | null) => number;
}

/** The interpretation of an answer: the tags to follow (several are forks and their continuation), or what is wrong with it. */
export type Decision =
  | {
      readonly kind: 'go';
      readonly tags: readonly ResolvedTag[];
      readonly implicit: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly kind: 'wrong'; readonly problem: AnswerProblem };

/** Interprets an answer by the rules of the language. Any text gives a decision. */
export function interpretAnswer(text: string, context: AnswerContext): Decision {
  const { policy, scope } = context;
  const reading = readTags(text, TAG_NAMES);
  const onlyTag = context.implicit === 'never' ? undefined : implicitTag(policy);
  const isForced = context.implicit === 'always' && onlyTag !== undefined;
  if (reading.kind === 'unclosed' && !isForced) return rejectAnswer(answerProblem('unclosed_tag', reading.message));
  const writtenTags = reading.kind === 'unclosed' ? [] : reading.tags.map(dropBlankFolder);
  const impliedTag = isForced || writtenTags.length === 0 ? onlyTag : undefined;
  const checkedTags = checkTagCombination(
    impliedTag === undefined ? mergeDuplicateTags(writtenTags) : [impliedTag],
    context,
  );
  if ('message' in checkedTags) return rejectAnswer(checkedTags);
  const resolvedTags: ResolvedTag[] = [];
  const warnings = impliedTag === undefined ? [] : findOverruledTags(writtenTags, policy, impliedTag, scope);
  for (const tag of checkedTags) {
    const resolved = resolveTag(tag, context);
    if ('message' in resolved) return rejectAnswer(resolved);
    const entry = findEntry(policy, tag, scope);
    if (entry === undefined && policy.length > 0) return rejectAnswer(notPermittedProblem(tag, policy));
    const checked = applyResultCheck(resolved, context.results);
    if ('message' in checked) return rejectAnswer(checked);
    const completed = completeByPolicy(checked, entry, impliedTag !== undefined, context.variables);
    const refusal = refuseWorkflow(completed.tag, context);
    if (refusal !== undefined) return rejectAnswer(refusal);
    resolvedTags.push(completed.tag);
    for (const warning of [...findTagWarnings(tag), ...completed.warnings, ...warnOfInput(completed.tag)])
      warnings.push(warning);
  }
  const problem = findWorkerProblem(resolvedTags, context);
  if (problem !== undefined) return rejectAnswer(problem);
  return { kind: 'go', tags: resolvedTags, implicit: impliedTag !== undefined, warnings };
}

const rejectAnswer = (problem: AnswerProblem): Decision => ({ kind: 'wrong', problem });

/** An empty `cd` is none: a script may have nothing to put there. */
function dropBlankFolder(tag: Tag): Tag {
  const { cd, ...others } = tag.attributes;
  return cd?.trim() === '' ? { ...tag, attributes: others } : tag;
}

/** Checks a single tag and resolves the names in it. */
function resolveTag(tag: Tag, context: AnswerContext): ResolvedTag | AnswerProblem {
  const name = tag.name;
  if (!isTagName(name)) return answerProblem('no_tag', `${quoteAnswerTag(tag)} is not a tag of the language`);
  const transition: Transition = TRANSITIONS[name];
  const attributeProblem = findAttributeProblem(tag, name, context);
  if (attributeProblem !== undefined) return attributeProblem;
  const states: Record<string, string | null> = { return: null, next: null, body: tag.body };
  const stateKeys = [
    ...STATE_ATTRIBUTES.filter((key) => isStateNamed(transition, tag, key)),
    ...(transition.body === 'state' ? ['body'] : []),
  ];
  for (const key of stateKeys) {
    const resolution = resolveState((key === 'body' ? tag.body : (tag.attributes[key] ?? '')).trim(), context.scope);
    if (resolution.kind !== 'found') {
      return answerProblem(
        'bad_state',
        `${quoteAnswerTag(tag)}: ${key === 'body' ? '' : `\`${key}\`: `}${resolution.message}`,
      );
    }
    states[key] = nameState(workflowNameOf(context.state), resolution.file);
  }
  const workflow = transition.body === 'workflow' ? findWorkflow(tag, context) : null;
  if (workflow !== null && 'message' in workflow) return workflow;
  // Its attributes have been checked.
  const terms = name === 'join' ? readJoinTerms(tag.attributes, states.timeout_next ?? null) : null;
  const join = typeof terms === 'string' ? null : terms;
  const items = name === 'fork-each' ? readItems(tag, context) : null;
  if (items !== null && 'message' in items) return items;
  const input = readInput(tag, context);
  if (typeof input === 'object' && input !== null) return input;
  const { cd, stack, model, effort } = tag.attributes;
  return {
    tag: name,
    target: {
      body: workflow?.state ?? states.body ?? tag.body,
      workflow,
      return: states.return ?? null,
      next: states.next ?? null,
      cd: resolveFolder(cd, context),
      stack: stack === 'clear' || stack === 'keep' ? stack : (transition.defaultStack ?? context.resetStack),
      input,
      takesTaskWord: isAttributeWord(name, 'task', tag.attributes.task),
      takesWorktree: isAttributeWord(name, 'worktree', tag.attributes.worktree),
      model: model === undefined ? null : normalizeModel(model),
      effort: effort === undefined ? null : normalizeEffort(effort),
      own: Object.fromEntries(
        Object.entries(tag.attributes)
          .filter(([key]) => isOwnAttribute(name, key))
          .map(([key, value]) => [key, states[key] ?? value]),
      ),
      variables: Object.fromEntries(
        Object.entries(tag.attributes).filter(
          ([key, value]) =>
            transition.variables && !isBuiltInAttribute(name, key) && !isAttributeWord(name, key, value),
        ),
      ),
      join,
      items,
    },
    written: tag,
  };
}

/** True if an attribute of a tag names a state: one that must be there, or one that is. */
const isStateNamed = (
  { required, attributes }: Transition,
  tag: Tag,
  key: (typeof STATE_ATTRIBUTES)[number],
): boolean => required.some((each) => each === key) || (attributes.includes(key) && tag.attributes[key] !== undefined);

/** The items for which a `<fork-each>` starts workers, or why there are none. */
function readItems(tag: Tag, context: AnswerContext): readonly ForkItem[] | AnswerProblem {
  const { in: name = '', as } = tag.attributes;
  const nameProblem = as === undefined ? undefined : variableNameProblem(as, context.scope.platform);
  if (nameProblem !== undefined)
    return answerProblem('bad_attribute', `${quoteAnswerTag(tag)}: \`as\`: ${nameProblem}`);
  const content = readNamedFile(tag, 'in', context);
  if (typeof content !== 'string') return content;
  const items = readForkItems(name, content, as, context.scope.platform);
  if (typeof items !== 'string') return items;
  return answerProblem('no_file', `${quoteAnswerTag(tag)}: \`in\` \`${shortenForMessage(name)}\`: ${items}`);
}

/** The content of the file that an attribute names, or why it cannot be read. */
function readNamedFile(tag: Tag, key: 'input-file' | 'in', { files = {} }: AnswerContext): string | AnswerProblem {
  const name = tag.attributes[key] ?? '';
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  if (file !== undefined && 'text' in file) return file.text;
  const why = file?.problem ?? 'there is no such file';
  return answerProblem('no_file', `${quoteAnswerTag(tag)}: \`${key}\` \`${shortenForMessage(name)}\`: ${why}`);
}

/** The `input` of a tag, or the content of its `input-file`; null if it has neither. */
function readInput(tag: Tag, context: AnswerContext): string | null | AnswerProblem {
  const { input, 'input-file': name } = tag.attributes;
  if (name === undefined) return input ?? null;
  if (input === undefined) return readNamedFile(tag, 'input-file', context);
  return answerProblem('bad_attribute', `${quoteAnswerTag(tag)}: \`input\` and \`input-file\` exclude each other`);
}

/** The folder that a `cd` leads to; null if there is none to go to. */
function resolveFolder(cd: string | undefined, { folders }: AnswerContext): string | null {
  const folder = cd === undefined ? null : folders[cd];
  return typeof folder === 'string' ? folder : null;
}

/** Finds the first attribute that is missing, misplaced or invalid. */
function findAttributeProblem(tag: Tag, name: TagName, context: AnswerContext): AnswerProblem | undefined {
  const { required, variables, findProblem }: Transition = TRANSITIONS[name];
  for (const [key, value] of Object.entries(tag.attributes)) {
    if (isBuiltInAttribute(name, key) && !takesAttribute(name, key)) {
      return answerProblem('misplaced_attribute', `${quoteAnswerTag(tag)}: \`${key}\` has no meaning on <${name}>`);
    }
    if (value.includes('\0'))
      return answerProblem('bad_attribute', `${quoteAnswerTag(tag)}: \`${key}\` contains a NUL character`);
    const nameProblem =
      variables && !isBuiltInAttribute(name, key) ? variableNameProblem(key, context.scope.platform) : undefined;
    if (nameProblem !== undefined) return answerProblem('bad_attribute', `${quoteAnswerTag(tag)}: ${nameProblem}`);
  }
  const missing = required.find((key) => (tag.attributes[key] ?? '').trim() === '');
  if (missing !== undefined)
    return answerProblem(
      'missing_attribute',
      `${quoteAnswerTag(tag)}: \`${missing}="${missing === 'in' ? 'FILE' : 'STATE'}"\` is missing`,
    );
  const { cd, stack } = tag.attributes;
  const emptyKey = PREFERENCE_KEYS.find((key) => tag.attributes[key]?.trim() === '');
  if (emptyKey !== undefined) return answerProblem('bad_attribute', `${quoteAnswerTag(tag)}: \`${emptyKey}\` is empty`);
  if (stack !== undefined && stack !== 'clear' && stack !== 'keep') {
    return answerProblem(
      'bad_attribute',
      `${quoteAnswerTag(tag)}: \`stack\` can be "clear" or "keep", not "${shortenForMessage(stack)}"`,
    );
  }
  const ownProblem = findProblem?.(tag);
  if (ownProblem !== undefined) return answerProblem('bad_attribute', `${quoteAnswerTag(tag)}: ${ownProblem}`);
  if (cd !== undefined && isAttributeWord(name, 'worktree', tag.attributes.worktree))
    return answerProblem('bad_attribute', `${quoteAnswerTag(tag)}: \`cd\` and \`worktree\` exclude each other`);
  const folder = cd !== undefined && Object.hasOwn(context.folders, cd) ? context.folders[cd] : null;
  if (cd !== undefined && typeof folder !== 'string') {
    const named = `\`${shortenForMessage(cd)}\``;
    return folder === null || folder === undefined
      ? answerProblem('no_folder', `${quoteAnswerTag(tag)}: there is no folder ${named}`)
      : answerProblem('no_folder', `${quoteAnswerTag(tag)}: this state may not change to ${named}: ${folder.refused}`);
  }
  return undefined;
}

const PREFERENCE_KEYS = ['model', 'effort'] as const;

/** Warnings about a tag that do not keep it from being followed. */
function findTagWarnings(tag: Tag): readonly string[] {
  const { name, attributes } = tag;
  const ignored =
    !isTagName(name) || TRANSITIONS[name].variables
      ? []
      : Object.keys(attributes).filter(
          (key) => !isBuiltInAttribute(name, key) && !isAttributeWord(name, key, attributes[key]),
        );
  const quoted = quoteAnswerTag(tag);
  return [
    ...tag.repeated.map((key) => `${quoted} gives \`${key}\` more than once; the last one counts`),
    ...ignored.map((key) => `${quoted}: \`${key}\` means nothing on <${tag.name}> and is ignored`),
  ];
}

/** The workflow that a tag names, or why it cannot be entered. */
function findWorkflow(tag: Tag, { workflows = {} }: LookedUp): EnteredWorkflow | AnswerProblem {
  const named = Object.hasOwn(workflows, tag.body) ? workflows[tag.body] : undefined;
  if (named !== undefined && !('problem' in named)) return named;
  const why = tag.body === '' ? 'the path of the workflow is empty' : (named?.problem ?? 'there is no such workflow');
  const kind = named?.isUnknown === true ? 'unknown_workflow' : 'bad_workflow';
  return answerProblem(kind, `${quoteAnswerTag(tag)}: ${why}`);
}

/** Warns of an input for a workflow that takes none. */
const warnOfInput = ({ target: { workflow, input }, written }: ResolvedTag): readonly string[] =>
  workflow?.takesNoInput === true && input !== null
    ? [`${quoteAnswerTag(written)}: this workflow says that it takes no input (\`mode: none\`)`]
    : [];

/** Explains why a tag may not enter its workflow: for want of an input, or because too many are around it; undefined if it may. */
function refuseWorkflow(
  { tag, target, written }: ResolvedTag,
  { nesting, maxDepth }: { readonly nesting: number; readonly maxDepth: number | null },
): AnswerProblem | undefined {
  const { workflow, input } = target;
  if (workflow === null) return undefined;
  if (workflow.requiredInput !== null && (input ?? '').trim() === '') {
    const what = workflow.requiredInput === '' ? '' : `: ${workflow.requiredInput}`;
    return answerProblem('missing_input', `${quoteAnswerTag(written)}: this workflow needs an \`input\`${what}`);
  }
  // Leaving for another workflow does not nest deeper.
  if (tag === 'reset-workflow' || maxDepth === null || nesting < maxDepth) return undefined;
  const around = `${nesting + 1} ${nesting === 0 ? 'workflow' : 'workflows'}`;
  const message = `${quoteAnswerTag(written)}: it would be nested in ${around}, and at most ${maxDepth} are allowed (\`max_depth\`)`;
  return answerProblem('too_deep', message);
}

/** The variable that has the item, unless the tag names another. */
const DEFAULT_ITEM_NAME = 'item';

/** The variable that has the number of the item, from 1. */
const INDEX_NAME = 'index';

/**
 * Reads the items of a file: the elements of an array in a `.json` file, the lines of JSON in a `.jsonl` or `.ndjson` file,
 * and of any other file the lines that are not blank. A text says what is wrong with the file.
 */
export function readForkItems(
  file: string,
  text: string,
  as: string | undefined,
  platform: Platform,
): readonly ForkItem[] | string {
  const content = text.replace(/^\uFEFF/, '');
  const values = readValues(file, content);
  if (typeof values === 'string') return values;
  const items: ForkItem[] = [];
  for (const [index, { value, place }] of values.entries()) {
    const item = toItem(value, index + 1, as);
    const problem = Object.entries(item.variables)
      .map(([name, each]) => variableNameProblem(name, platform) ?? nulProblem(name, each))
      .find((found) => found !== undefined);
    if (problem !== undefined) return `${place}: ${problem}`;
    items.push(item);
  }
  return items;
}

interface PlacedValue {
  readonly value: unknown;
  /** Where it stands in the file, for messages. */
  readonly place: string;
}

function readValues(file: string, content: string): readonly PlacedValue[] | string {
  if (/\.json$/i.test(file)) return readArray(content);
  const isJsonLines = /\.(jsonl|ndjson)$/i.test(file);
  const values: PlacedValue[] = [];
  let number = 0;
  for (const line of content.split('\n')) {
    number += 1;
    const trimmed = line.trim();
    if (trimmed === '') continue;
    const value = isJsonLines ? tryParseJson(trimmed) : trimmed;
    if (value === undefined) return `line ${number} is not JSON: \`${shortenForMessage(trimmed)}\``;
    values.push({ value, place: `line ${number}` });
  }
  return values;
}

function readArray(content: string): readonly PlacedValue[] | string {
  if (content.trim() === '') return [];
  const parsed = tryParseJson(content);
  if (parsed === undefined) {
    const why = describeJsonProblem(content) ?? '';
    return `it is not JSON (${why}); items that are not JSON belong in a file with another extension, one per line`;
  }
  if (!Array.isArray(parsed))
    return 'it is not a JSON array; objects that stand one per line belong in a `.jsonl` file';
  return parsed.map((value: unknown, index) => ({ value, place: `element ${index + 1}` }));
}

/** The fields of an object are variables, and its `input` is what the worker gets; any other value is one variable. */
function toItem(value: unknown, index: number, as: string | undefined): ForkItem {
  const number = [INDEX_NAME, String(index)] as const;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { variables: Object.fromEntries([[as ?? DEFAULT_ITEM_NAME, toText(value)], number]), input: null };
  }
  const { input, ...fields } = Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, toText(each)] as const),
  );
  const whole = as === undefined ? [] : [[as, JSON.stringify(value)] as const];
  return { variables: Object.fromEntries([...Object.entries(fields), number, ...whole]), input: input ?? null };
}

const toText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const nulProblem = (name: string, value: string): string | undefined =>
  value.includes('\0') ? `\`${shortenForMessage(name)}\` contains a NUL character` : undefined;
