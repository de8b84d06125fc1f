import { implicitTag, type Policy } from '../policy.ts';
import { isWorkflowTag, TAG_NAMES } from '../transitions/index.ts';
import { type BuiltInAttribute, isBuiltInAttribute, readTags, type Tag } from './tag.ts';

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
