import { implicitTag, type Policy, type PolicyEntry, permits } from '../policy.ts';
import { type AnswerProblem, answerProblem, shortenForMessage } from '../problem.ts';
import type { Scope } from '../state-names.ts';
import { renderTemplate } from '../text/template.ts';
import { isWorkflowTag, TAG_NAMES, type TagName } from '../transitions/index.ts';
import type { TransitionTarget } from '../transitions/transition.ts';
import { type BuiltInAttribute, isBuiltInAttribute, readTags, type Tag } from './tag.ts';
import { quoteWholeTag } from './tag-mentions.ts';

/** A tag of the language with its names made exact, and as it was written. */
export interface ResolvedTag {
  readonly tag: TagName;
  readonly target: TransitionTarget;
  readonly written: Tag;
}

/** The warning about tags that a forced transition overrules; none if they ask for that transition. */
export function findOverruledTags(tags: readonly Tag[], policy: Policy, forced: Tag, scope: Scope): string[] {
  const overruled = tags.find((tag) => !permits(policy, tag, scope));
  return overruled === undefined
    ? []
    : [`${quoteWholeTag(overruled)} is ignored: \`force_implicit\` takes ${quoteWholeTag(forced)}`];
}

/**
 * Fills in the templates of a tag, and adds what its policy entry provides: the `input` if the tag has none, and the
 * variables of an implicit fork. The `input` that a tag itself has is a template only if the tag enters another workflow.
 */
export function completeByPolicy(
  resolved: ResolvedTag,
  entry: PolicyEntry | undefined,
  implicit: boolean,
  variables: Readonly<Record<string, string>>,
): { readonly tag: ResolvedTag; readonly warnings: readonly string[] } {
  const unknown = new Set<string>();
  const render = (template: string): string => {
    const rendered = renderTemplate(template, variables);
    for (const name of rendered.unknown) unknown.add(name);
    return rendered.text;
  };
  const { target } = resolved;
  const template = entry?.attributes.input;
  // The `input` of an implicit tag is the template itself.
  const written = implicit && template !== undefined ? null : target.input;
  const isTemplate = isWorkflowTag(resolved.tag) && resolved.written.attributes.input !== undefined;
  const own = written !== null && isTemplate ? renderTemplate(written, variables).text : written;
  const completed: TransitionTarget = {
    ...target,
    input: own ?? (template === undefined ? null : render(template)),
    variables: implicit
      ? Object.fromEntries(Object.entries(target.variables).map(([name, value]) => [name, render(value)]))
      : target.variables,
  };
  const warnings = [...unknown].map((name) => `{{${name}}} in the policy is not set and stays as it is`);
  return { tag: { ...resolved, target: completed }, warnings };
}

/** The problem of a tag that no entry of the policy permits. */
export function notPermittedProblem(tag: Tag, policy: Policy): AnswerProblem {
  const payloads = policy.flatMap((entry) => (entry.tag === tag.name ? (entry.payload ?? []) : []));
  if (payloads.length === 0) return answerProblem('not_permitted', `${quoteWholeTag(tag)} is not permitted here`);
  const written = `\`<${tag.name}>${shortenForMessage(tag.body)}</${tag.name}>\``;
  const texts = payloads.map((payload) => `\`${shortenForMessage(payload)}\``).join(' or ');
  return answerProblem('not_permitted', `${written} is not permitted here: its text must be exactly ${texts}`);
}

/** The folders that the `cd`s of an answer name, implicit ones included; the caller has to look whether they exist. */
export const findNamedFolders = (text: string, policy: Policy): readonly string[] => findValues(text, policy, 'cd');

/** The files that the `input-file`s and the `in`s of an answer name; the caller has to read them. */
export const findNamedFiles = (text: string, policy: Policy): readonly string[] =>
  findValues(text, policy, 'input-file', 'in');

/** The workflows that an answer names, implicit ones included; the caller has to look what they are. */
export const findNamedWorkflows = (text: string, policy: Policy): readonly string[] => [
  ...new Set(tagsToFollow(text, policy).flatMap(({ name, body }) => (isWorkflowTag(name) ? body : []))),
];

/** The texts of the `<result>`s of an answer, an implicit one included; the caller has to check them. */
export const findResultTexts = (text: string, policy: Policy): readonly string[] => [
  ...new Set(tagsToFollow(text, policy).flatMap(({ name, body }) => (name === 'result' ? body : []))),
];

function findValues(text: string, policy: Policy, ...keys: readonly BuiltInAttribute[]): readonly string[] {
  const values = tagsToFollow(text, policy).flatMap(({ name, attributes }) =>
    keys.flatMap((key) => (isBuiltInAttribute(name, key) ? (attributes[key] ?? []) : [])),
  );
  return [...new Set(values)];
}

/** The tags of an answer, and the one that its policy implies. */
function tagsToFollow(text: string, policy: Policy): readonly Tag[] {
  const reading = readTags(text, TAG_NAMES);
  const implied = implicitTag(policy);
  return [...(reading.kind === 'unclosed' ? [] : reading.tags), ...(implied === undefined ? [] : [implied])];
}
