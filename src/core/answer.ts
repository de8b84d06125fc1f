import type { NamedFolders } from './named-folders.ts';
import { implicitTag, isSameState, type Policy, permits } from './policy.ts';
import { normalizeEffort, normalizeModel } from './preference.ts';
import { type AnswerProblem, answerProblem, shortenForMessage } from './problem.ts';
import { resolveState, type Scope } from './state-names.ts';
import { type BuiltInAttribute, isBuiltInAttribute, readTags, type Tag } from './tag.ts';
import { isTagName, TAG_NAMES, type TagName, TRANSITIONS } from './transitions/index.ts';
import type { TransitionTarget } from './transitions/transition.ts';
import { variableNameProblem } from './variables.ts';

/** What decides, besides its text, what an answer means. */
export interface AnswerContext {
  readonly policy: Policy;
  readonly scope: Scope;
  readonly folders: NamedFolders;
  /** What `<reset>` does with the return stack when it does not say. */
  readonly resetStack: 'keep' | 'clear';
  /** Whether the only permitted transition is taken when the answer has no tag. */
  readonly implicit: boolean;
}

/** A tag of the language with its names made exact, and as it was written. */
export interface ResolvedTag {
  readonly tag: TagName;
  readonly target: TransitionTarget;
  readonly written: Tag;
}

/** The interpretation of an answer: the tags to follow (several are forks and their goto), or what is wrong with it. */
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
  const reading = readTags(text, TAG_NAMES);
  if (reading.kind === 'unclosed') return rejectAnswer(answerProblem('unclosed_tag', reading.message));
  const impliedTag = reading.tags.length === 0 && context.implicit ? implicitTag(context.policy) : undefined;
  const checkedTags = checkTagCombination(
    impliedTag === undefined ? mergeDuplicateTags(reading.tags) : [impliedTag],
    context.scope,
  );
  if ('message' in checkedTags) return rejectAnswer(checkedTags);
  const resolvedTags: ResolvedTag[] = [];
  const warnings: string[] = [];
  for (const tag of checkedTags) {
    const resolved = resolveTag(tag, context);
    if ('message' in resolved) return rejectAnswer(resolved);
    if (!permits(context.policy, tag, context.scope))
      return rejectAnswer(answerProblem('not_permitted', `${quoteTagWithAttributes(tag)} is not permitted here`));
    resolvedTags.push(resolved);
    for (const warning of findTagWarnings(tag)) warnings.push(warning);
  }
  return { kind: 'go', tags: resolvedTags, implicit: impliedTag !== undefined, warnings };
}

/** The folders that the `cd`s of an answer name, implicit ones included; the caller has to look whether they exist. */
export function findNamedFolders(text: string, policy: Policy): readonly string[] {
  const reading = readTags(text, TAG_NAMES);
  if (reading.kind === 'unclosed') return [];
  const tags = reading.tags.length > 0 ? reading.tags : [implicitTag(policy)];
  return [...new Set(tags.flatMap((tag) => tag?.attributes.cd ?? []))];
}

const rejectAnswer = (problem: AnswerProblem): Decision => ({ kind: 'wrong', problem });

/** Merges identical tags into one, except forks: two identical forks start two workers. */
function mergeDuplicateTags(tags: readonly Tag[]): readonly Tag[] {
  const seen = new Set<string>();
  return tags.filter((tag) => {
    const key = JSON.stringify([tag.name, tag.body, Object.entries(tag.attributes).sort()]);
    const isDuplicate = seen.has(key) && tag.name !== 'fork';
    seen.add(key);
    return !isDuplicate;
  });
}

/** Accepts one tag, or forks that agree on where their parent goes on; each fork gets that as its `next`. */
function checkTagCombination(tags: readonly Tag[], scope: Scope): readonly Tag[] | AnswerProblem {
  const forks = tags.filter((tag) => tag.name === 'fork');
  const [otherTag, secondOtherTag] = tags.filter((tag) => tag.name !== 'fork');
  if (tags.length === 0) return answerProblem('no_tag', 'it contains no tag');
  if (secondOtherTag !== undefined || (otherTag !== undefined && otherTag.name !== 'goto' && forks.length > 0)) {
    return answerProblem('several_tags', `found ${tags.length} tags: ${listTags(tags)}`);
  }
  if (forks.length === 0) return tags;
  const continuations = [...forks.map((tag) => tag.attributes.next), otherTag?.body].filter((way) => way !== undefined);
  const [continuation = ''] = continuations;
  const conflicting = continuations.find(
    (each) => each.trim() !== continuation.trim() && !isSameState(each, continuation, scope),
  );
  if (conflicting !== undefined) {
    const message = `the forks do not agree on where their parent goes on: \`${shortenForMessage(continuation)}\` or \`${shortenForMessage(conflicting)}\``;
    return answerProblem('several_tags', message);
  }
  const forksWithNext = forks.map((tag) =>
    continuation === '' ? tag : { ...tag, attributes: { ...tag.attributes, next: continuation } },
  );
  return otherTag === undefined ? forksWithNext : [...forksWithNext, otherTag];
}

/** Checks a single tag and resolves the names in it. */
function resolveTag(tag: Tag, context: AnswerContext): ResolvedTag | AnswerProblem {
  const name = tag.name;
  if (!isTagName(name)) return answerProblem('no_tag', `${quoteTag(tag)} is not a tag of the language`);
  const transition = TRANSITIONS[name];
  const attributeProblem = findAttributeProblem(tag, name, context);
  if (attributeProblem !== undefined) return attributeProblem;
  const states: Record<string, string | null> = { return: null, next: null, body: tag.body };
  const stateKeys = [...transition.required, ...(transition.body === 'state' ? ['body'] : [])];
  for (const key of stateKeys) {
    const resolution = resolveState((key === 'body' ? tag.body : (tag.attributes[key] ?? '')).trim(), context.scope);
    if (resolution.kind !== 'found') {
      return answerProblem(
        'bad_state',
        `${quoteTag(tag)}: ${key === 'body' ? '' : `\`${key}\`: `}${resolution.message}`,
      );
    }
    states[key] = resolution.file;
  }
  const { cd, stack, input, model, effort } = tag.attributes;
  return {
    tag: name,
    target: {
      body: states.body ?? tag.body,
      return: states.return ?? null,
      next: states.next ?? null,
      cd: resolveFolder(cd, context),
      stack: stack === 'clear' || stack === 'keep' ? stack : context.resetStack,
      input: input ?? null,
      model: model === undefined ? null : normalizeModel(model),
      effort: effort === undefined ? null : normalizeEffort(effort),
      variables: Object.fromEntries(
        Object.entries(tag.attributes).filter(([key]) => transition.variables && !isBuiltInAttribute(key)),
      ),
    },
    written: tag,
  };
}

/** The folder that a `cd` leads to; null if there is none to go to. */
function resolveFolder(cd: string | undefined, { folders }: AnswerContext): string | null {
  const folder = cd === undefined ? null : folders[cd];
  return typeof folder === 'string' ? folder : null;
}

/** Finds the first attribute that is missing, misplaced or invalid. */
function findAttributeProblem(tag: Tag, name: TagName, context: AnswerContext): AnswerProblem | undefined {
  const { attributes, required, variables } = TRANSITIONS[name];
  for (const [key, value] of Object.entries(tag.attributes)) {
    if (isBuiltInAttribute(key) && !(attributes as readonly BuiltInAttribute[]).includes(key)) {
      return answerProblem('misplaced_attribute', `${quoteTag(tag)}: \`${key}\` has no meaning on <${name}>`);
    }
    if (value.includes('\0'))
      return answerProblem('bad_attribute', `${quoteTag(tag)}: \`${key}\` contains a NUL character`);
    const nameProblem =
      variables && !isBuiltInAttribute(key) ? variableNameProblem(key, context.scope.platform) : undefined;
    if (nameProblem !== undefined) return answerProblem('bad_attribute', `${quoteTag(tag)}: ${nameProblem}`);
  }
  const missing = required.find((key) => (tag.attributes[key] ?? '').trim() === '');
  if (missing !== undefined)
    return answerProblem('missing_attribute', `${quoteTag(tag)}: \`${missing}="STATE"\` is missing`);
  const { cd, stack } = tag.attributes;
  const emptyKey = PREFERENCE_KEYS.find((key) => tag.attributes[key]?.trim() === '');
  if (emptyKey !== undefined) return answerProblem('bad_attribute', `${quoteTag(tag)}: \`${emptyKey}\` is empty`);
  if (stack !== undefined && stack !== 'clear' && stack !== 'keep') {
    return answerProblem(
      'bad_attribute',
      `${quoteTag(tag)}: \`stack\` can be "clear" or "keep", not "${shortenForMessage(stack)}"`,
    );
  }
  const folder = cd !== undefined && Object.hasOwn(context.folders, cd) ? context.folders[cd] : null;
  if (cd !== undefined && typeof folder !== 'string') {
    const named = `\`${shortenForMessage(cd)}\``;
    return folder === null || folder === undefined
      ? answerProblem('no_folder', `${quoteTag(tag)}: there is no folder ${named}`)
      : answerProblem('no_folder', `${quoteTag(tag)}: this state may not change to ${named}: ${folder.refused}`);
  }
  return undefined;
}

const PREFERENCE_KEYS = ['model', 'effort'] as const;

/** Warnings about a tag that do not keep it from being followed. */
function findTagWarnings(tag: Tag): readonly string[] {
  const takesVariables = isTagName(tag.name) && TRANSITIONS[tag.name].variables;
  const ignored = takesVariables ? [] : Object.keys(tag.attributes).filter((key) => !isBuiltInAttribute(key));
  const quoted = quoteTag(tag);
  return [
    ...tag.repeated.map((key) => `${quoted} gives \`${key}\` more than once; the last one counts`),
    ...ignored.map((key) => `${quoted}: \`${key}\` means nothing on <${tag.name}> and is ignored`),
  ];
}

/** Quotes a tag for a message: shortened, and with its line if it has one. */
const quoteTag = (tag: Tag): string => formatQuote(tag, '');

/** Quotes a tag with its attributes, for messages in which they matter. */
function quoteTagWithAttributes(tag: Tag): string {
  let attributesText = '';
  for (const key in tag.attributes) {
    if (attributesText.length > MAX_ATTRIBUTES_LENGTH) break;
    attributesText += ` ${shortenForMessage(key)}="${shortenForMessage(tag.attributes[key] ?? '')}"`;
  }
  return formatQuote(tag, shortenForMessage(attributesText));
}

function formatQuote({ name, body, line }: Tag, attributes: string): string {
  const rest = isTagName(name) && TRANSITIONS[name].body === 'text' ? '' : `${shortenForMessage(body)}</${name}>`;
  return `\`<${name}${attributes}>${rest}\`${line > 0 ? ` (line ${line})` : ''}`;
}

const MAX_LISTED_TAGS = 5;
const MAX_ATTRIBUTES_LENGTH = 60;

function listTags(tags: readonly Tag[]): string {
  const shown = tags.slice(0, MAX_LISTED_TAGS).map(quoteTagWithAttributes);
  const more = tags.length - shown.length;
  const last = more > 0 ? `${more} more` : shown.pop();
  return `${shown.join(', ')} and ${last}`;
}
