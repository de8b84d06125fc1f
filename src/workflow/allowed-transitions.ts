import type { Platform } from '../core/names.ts';
import { didYouMean } from '../core/nearest.ts';
import { type Policy, type PolicyEntry, statesNamed } from '../core/policy.ts';
import { OWN_ATTRIBUTES, type OwnAttribute } from '../core/tag.ts';
import { isTagName, TAG_NAMES, type TagName, TRANSITIONS } from '../core/transitions/index.ts';
import { variableProblem } from '../core/variables.ts';
import { type Place, quote, type Report } from './report.ts';
import { describe, type Field, readFields, type Value, written } from './value.ts';

/** A state that a policy names, at the place where it does. */
export interface Reference {
  readonly key: string;
  readonly name: string;
  readonly at: Place;
}

/** What a list of permitted transitions comes to. */
export interface Transitions {
  readonly policy: Policy;
  readonly references: readonly Reference[];
}

/** Reads the value of `allowed_transitions`. */
export function readTransitions({ value }: Field, report: Report, platform: Platform): Transitions {
  if (value.kind !== 'list') {
    report.error(
      value.at,
      `\`allowed_transitions\` must be a list of entries such as ${EXAMPLE}, not ${describe(value)}`,
    );
    return { policy: [], references: [] };
  }
  const entries = value.items().flatMap((item) => readEntry(item, report, platform) ?? []);
  return {
    policy: entries.map(({ entry }) => entry),
    references: entries.flatMap(({ references }) => references),
  };
}

const EXAMPLE = '`{ tag: goto, target: NEXT.md }`';

interface Read {
  readonly entry: PolicyEntry;
  readonly references: readonly Reference[];
  readonly fields: ReadonlyMap<string, Field>;
}

/** Reads one of its entries; undefined if nothing can be made of it. */
export function readEntry(item: Value, report: Report, platform: Platform): Read | undefined {
  if (item.kind !== 'mapping') {
    report.error(
      item.at,
      `an entry of \`allowed_transitions\` must be a mapping such as ${EXAMPLE}, not ${describe(item)}`,
    );
    return undefined;
  }
  const all = readFields(item, report, fold);
  const fields = new Map(all);
  const tag = readTag(fields.get('tag'), item.at, report, [...fields.keys()]);
  if (tag === undefined) return undefined;
  const target = readTarget(tag, fields.get('target'), report);
  fields.delete('tag');
  const attributes = new Map<string, string>();
  for (const field of fields.values()) {
    if (field.name === 'target' || !belongs(tag, field, report, platform)) continue;
    const value = scalar(field, report);
    if (value !== undefined && fits(field, value, report)) attributes.set(field.name, value);
  }
  const entry = { tag, target, attributes: Object.fromEntries(attributes) };
  const references = statesNamed(entry).flatMap(([key, name]) => {
    const at = fields.get(key)?.value.at;
    return at === undefined ? [] : { key, name, at };
  });
  return { entry, references, fields: all };
}

/** The language's own keys are read in any letter case, as they are in a tag; an author's own as written. */
function fold(name: string): string {
  const lower = name.toLowerCase();
  return lower === 'tag' || lower === 'target' || isOwn(lower) ? lower : name;
}

function readTag(field: Field | undefined, at: Place, report: Report, keys: readonly string[]): TagName | undefined {
  if (field === undefined || field.value.kind === 'nothing') {
    const place = field?.at ?? at;
    // Within braces, YAML takes `tag:goto` for one word.
    if (keys.some((key) => /^tag:\S/i.test(key)))
      report.error(place, 'this entry has no `tag`: write a blank after the colon, as in `tag: goto`');
    else report.error(place, `this entry has no \`tag\`: say which transition it permits (${TAG_NAMES.join(', ')})`);
    return undefined;
  }
  const given = scalar(field, report)?.trim();
  if (given === undefined) return undefined;
  const name = given.toLowerCase();
  if (isTagName(name)) return name;
  const meant = didYouMean(given, TAG_NAMES);
  report.error(field.value.at, `there is no tag ${quote(given)}${meant}; the tags are ${TAG_NAMES.join(', ')}`);
  return undefined;
}

function readTarget(tag: TagName, field: Field | undefined, report: Report): string | null {
  if (field === undefined || field.value.kind === 'nothing') return null;
  if (TRANSITIONS[tag].body === 'text') {
    report.error(field.at, `<${tag}> has no \`target\`, it goes back to whoever called: remove it`);
    return null;
  }
  const name = scalar(field, report);
  return name !== undefined && fits(field, name, report) ? name : null;
}

/** Whether a tag takes this attribute; what it does not take is an error if the language knows it, else a warning. */
function belongs(tag: TagName, { name, at }: Field, report: Report, platform: Platform): boolean {
  const { attributes, variables } = TRANSITIONS[tag];
  const taken: readonly string[] = attributes;
  if (taken.includes(name)) return true;
  if (isOwn(name)) {
    const takes = taken.length === 0 ? 'it takes no attributes' : `it takes ${taken.join(', ')}`;
    report.error(at, `\`${name}\` has no meaning on <${tag}> (${takes}): no answer could match; remove it`);
    return false;
  }
  if (!variables) {
    const meant = didYouMean(name, ['target', ...taken]);
    report.warning(at, `${quote(name)} means nothing on <${tag}> and is ignored${meant}`);
    return false;
  }
  const refused = variableProblem(name, platform);
  if (refused !== undefined) report.error(at, refused);
  return refused === undefined;
}

/** Whether an attribute can have this value at all. */
function fits({ name, value }: Field, given: string, report: Report): boolean {
  if (given === '' && (namesState(name) || name === 'model' || name === 'effort')) {
    report.error(value.at, `\`${name}\` is empty: give it a value, or leave it out to permit any`);
    return false;
  }
  if (name === 'stack' && given !== 'clear' && given !== 'keep') {
    report.error(value.at, `\`stack\` can be \`clear\` or \`keep\`, not ${quote(given)}`);
    return false;
  }
  if (!given.includes('\0')) return true;
  report.error(value.at, `${quote(name)} contains a NUL character: remove it`);
  return false;
}

/** The value as written, the name of a state without outer blanks. Undefined if it is not given. */
function scalar({ name, value }: Field, report: Report): string | undefined {
  const given = written(value);
  if (given === undefined && value.kind !== 'nothing') {
    report.error(value.at, `${quote(name)} must be a single value, not ${describe(value)}`);
  }
  return namesState(name) ? given?.trim() : given;
}

const namesState = (name: string): boolean => name === 'target' || name === 'return' || name === 'next';

const isOwn = (name: string): name is OwnAttribute => (OWN_ATTRIBUTES as readonly string[]).includes(name);
