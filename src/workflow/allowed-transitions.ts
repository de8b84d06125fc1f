import type { EntryPositions } from '../graph/workflow-source.ts';
import type { Policy, PolicyEntry } from '../language/policy.ts';
import type { Platform } from '../language/state-names.ts';
import { joinAttributeProblem } from '../language/tags/join-terms.ts';
import { isBuiltInAttribute, STATE_ATTRIBUTES, toTagName } from '../language/tags/tag.ts';
import { didYouMean } from '../language/text/nearest.ts';
import type { TextPosition } from '../language/text/text.ts';
import { isAttributeWord, isTagName, TAG_NAMES, type TagName, TRANSITIONS } from '../language/transitions/index.ts';
import { variableNameProblem } from '../language/variable-names.ts';
import { type FindingReport, quoteInMessage } from '../yaml/finding-report.ts';
import {
  describeYamlValue,
  readYamlFields,
  readYamlScalarText,
  valuePositions,
  type YamlField,
  type YamlValue,
} from '../yaml/value.ts';

/** A list of permitted transitions, and the position of each of its entries. */
export interface AllowedTransitions {
  readonly policy: Policy;
  readonly entries: readonly EntryPositions[];
}

/** Reads the value of `allowed_transitions`. An entry that cannot be read is in neither list. */
export function readAllowedTransitions(
  { value }: YamlField,
  report: FindingReport,
  platform: Platform,
): AllowedTransitions {
  if (value.kind !== 'list') {
    report.error(
      value.at,
      `\`allowed_transitions\` must be a list of entries such as ${EXAMPLE}, not ${describeYamlValue(value)}`,
    );
    return { policy: [], entries: [] };
  }
  const read = value.items.flatMap((item) => readPolicyEntry(item, report, platform) ?? []);
  return { policy: read.map(({ entry }) => entry), entries: read.map(({ positions }) => positions) };
}

const EXAMPLE = '`{ tag: goto, target: NEXT.md }`';

/** Reads one transition; `subject` says in messages what it is. Undefined if it cannot be read. */
export function readPolicyEntry(
  item: YamlValue,
  report: FindingReport,
  platform: Platform,
  subject = 'an entry of `allowed_transitions`',
): { readonly entry: PolicyEntry; readonly positions: EntryPositions } | undefined {
  if (item.kind !== 'mapping') {
    report.error(item.at, `${subject} must be a mapping such as ${EXAMPLE}, not ${describeYamlValue(item)}`);
    return undefined;
  }
  const fields = readYamlFields(item, report, keyNormalizerOf(item));
  const tag = readTag(fields.get('tag'), item.at, report, [...fields.keys()]);
  if (tag === undefined) return undefined;
  const target = readTarget(tag, fields.get('target'), report);
  const takesPayload = TRANSITIONS[tag].body === 'text';
  const payload = takesPayload ? readPayload(fields.get('payload'), report) : undefined;
  const attributes = new Map<string, string>();
  for (const field of fields.values()) {
    if (ENTRY_KEYS.includes(field.name) && (takesPayload || field.name !== 'payload')) continue;
    if (!checkAttribute(tag, field, report, platform)) continue;
    const value = readScalarField(field, report);
    if (value !== undefined && checkAttributeValue(tag, field, value, report)) attributes.set(field.name, value);
  }
  const entry = { tag, target, attributes: Object.fromEntries(attributes), ...(payload !== undefined && { payload }) };
  return { entry, positions: { at: item.at, keys: valuePositions(fields) } };
}

/** The keys of an entry that are no attributes of its tag; `payload` only where the tag takes a text. */
const ENTRY_KEYS: readonly string[] = ['tag', 'target', 'payload'];

/** Built-in keys are read in any letter case, as they are in a tag; an author's own as written. */
function keyNormalizerOf({ pairs }: Extract<YamlValue, { kind: 'mapping' }>): (name: string) => string {
  const tag = pairs.find(([key]) => readYamlScalarText(key)?.toLowerCase() === 'tag')?.[1];
  const tagName = (tag === undefined ? undefined : readYamlScalarText(tag))?.trim().toLowerCase() ?? '';
  return (name) => {
    const lower = name.toLowerCase();
    return ENTRY_KEYS.includes(lower) || isBuiltInAttribute(toTagName(tagName), lower) ? lower : name;
  };
}

function readTag(
  field: YamlField | undefined,
  at: TextPosition,
  report: FindingReport,
  keys: readonly string[],
): TagName | undefined {
  if (field === undefined || field.value.kind === 'nothing') {
    const position = field?.at ?? at;
    // Within braces, YAML reads `tag:goto` as one word.
    if (keys.some((key) => /^tag:\S/i.test(key)))
      report.error(position, 'this entry has no `tag`: write a space after the colon, as in `tag: goto`');
    else report.error(position, `this entry has no \`tag\`: say which transition it permits (${TAG_NAMES.join(', ')})`);
    return undefined;
  }
  const tagText = readScalarField(field, report)?.trim();
  if (tagText === undefined) return undefined;
  const name = toTagName(tagText.toLowerCase());
  if (isTagName(name)) return name;
  if (name === 'print') {
    report.error(field.value.at, '<print> is no transition and is always permitted: remove this entry');
    return undefined;
  }
  const suggestion = didYouMean(tagText, TAG_NAMES);
  report.error(
    field.value.at,
    `there is no tag ${quoteInMessage(tagText)}${suggestion}; the tags are ${TAG_NAMES.join(', ')}`,
  );
  return undefined;
}

function readTarget(tag: TagName, field: YamlField | undefined, report: FindingReport): string | null {
  if (field === undefined || field.value.kind === 'nothing') return null;
  if (TRANSITIONS[tag].body === 'text') {
    const instead = tag === 'ask' ? 'its answer goes to `next`' : 'it returns to the caller';
    report.error(field.at, `<${tag}> takes no \`target\`, ${instead}: remove it`);
    return null;
  }
  const name = readScalarField(field, report);
  return name !== undefined && checkAttributeValue(tag, field, name, report) ? name : null;
}

/** Reads the text that a `<result>` must have. It is compared without outer white space, as the text of a tag is. */
function readPayload(field: YamlField | undefined, report: FindingReport): string | undefined {
  if (field === undefined) return undefined;
  const payload = readScalarField(field, report)?.trim();
  return payload !== undefined && checkAttributeValue('result', field, payload, report) ? payload : undefined;
}

/** True if a tag takes this attribute. One that it does not take is an error if it is built in, else a warning. */
function checkAttribute(
  tag: TagName,
  { name, at, value }: YamlField,
  report: FindingReport,
  platform: Platform,
): boolean {
  const { attributes, variables } = TRANSITIONS[tag];
  const accepted: readonly string[] = attributes;
  if (accepted.includes(name) || isAttributeWord(tag, name, readYamlScalarText(value))) return true;
  if (isBuiltInAttribute(tag, name)) {
    const acceptedText = accepted.length === 0 ? 'it takes no attributes' : `it takes ${accepted.join(', ')}`;
    report.error(at, `\`${name}\` has no meaning on <${tag}> (${acceptedText}): no answer could match; remove it`);
    return false;
  }
  if (!variables) {
    const suggestion = didYouMean(name, ['target', ...accepted]);
    report.warning(at, `${quoteInMessage(name)} means nothing on <${tag}> and is ignored${suggestion}`);
    return false;
  }
  const problem = variableNameProblem(name, platform);
  if (problem !== undefined) report.error(at, problem);
  return problem === undefined;
}

/** True if an attribute can have this value at all. */
function checkAttributeValue(tag: TagName, { name, value }: YamlField, text: string, report: FindingReport): boolean {
  const isBuiltIn = name === 'target' || isBuiltInAttribute(tag, name);
  if (text === '' && isBuiltIn && (isStateKey(name) || NEVER_EMPTY.includes(name))) {
    report.error(value.at, `\`${name}\` is empty: give it a value, or leave it out to permit any`);
    return false;
  }
  if (name === 'stack' && text !== 'clear' && text !== 'keep') {
    report.error(value.at, `\`stack\` can be \`clear\` or \`keep\`, not ${quoteInMessage(text)}`);
    return false;
  }
  const problem = findOwnProblem(tag, name, text);
  if (problem !== undefined) {
    report.error(value.at, problem);
    return false;
  }
  if (!text.includes('\0')) return true;
  report.error(value.at, `${quoteInMessage(name)} contains a NUL character: remove it`);
  return false;
}

const NEVER_EMPTY = ['model', 'effort', 'in', 'as'];

/** Finds what is wrong with the value of an attribute that only this tag has. */
function findOwnProblem(tag: TagName, name: string, text: string): string | undefined {
  if (tag === 'join' || (tag === 'ask' && name === 'timeout')) return joinAttributeProblem(name, text);
  return tag === 'fork-each' && name === 'as' ? variableNameProblem(text, 'unix') : undefined;
}

/** Reads a value as it is written, the name of a state without outer spaces. Undefined if there is none. */
function readScalarField({ name, value }: YamlField, report: FindingReport): string | undefined {
  const text = readYamlScalarText(value);
  if (text === undefined && value.kind !== 'nothing') {
    report.error(value.at, `${quoteInMessage(name)} must be a single value, not ${describeYamlValue(value)}`);
  }
  return isStateKey(name) ? text?.trim() : text;
}

const isStateKey = (name: string): boolean =>
  name === 'target' || (STATE_ATTRIBUTES as readonly string[]).includes(name);
