/** docs/json.md has every field of every document that Raymond prints, and no others. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createEventDocument } from '../../src/documents/event-document.ts';
import { EVENT_FIELDS, RUN_OPTIONS } from '../../src/documents/event-schemas.ts';
import { DOCUMENTS } from '../../src/documents/schemas.ts';
import { type Item, itemsOf } from '../docs/items.ts';
import { openPage } from '../docs/pages.ts';
import { SAMPLE_EVENTS } from '../render/sample-events.ts';

const page = openPage('docs/json.md');
const configuration = openPage('docs/configuration.md');

/** Fields whose own fields have a section of their own, or are explained in the words of their item. */
const PART =
  /^(?:transitions|questions)$|(?:^|\.)(?:tokens|quota|models|warnings|owner|worktree|workspace|waits_for_workers|display_files|uploads|choices|permission|expected)$/;

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

const jsonSchemaOf = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema, { io: 'input' }) as JsonSchema;

/** The fields without fields of their own, as the page writes them: `agents[].id`. */
function fieldsIn({ properties = {}, items, anyOf = [] }: JsonSchema, path = ''): readonly string[] {
  const inner = [
    ...Object.entries(properties).flatMap(([name, value]) => fieldsIn(value, path === '' ? name : `${path}.${name}`)),
    ...(items === undefined || isPlain(items) ? [] : fieldsIn(items, `${path}[]`)),
    ...anyOf.filter((each) => !isPlain(each)).flatMap((each) => fieldsIn(each, path)),
  ];
  if (path !== '' && (PART.test(path) || inner.length === 0)) return [path];
  return [...new Set(inner)].sort();
}

/** True for a schema without fields. */
const isPlain = ({ properties, items, anyOf = [] }: JsonSchema): boolean =>
  properties === undefined && (items === undefined || isPlain(items)) && anyOf.every(isPlain);

/** The schema of a part of a document. */
function partOf({ properties = {}, items, anyOf = [] }: JsonSchema, [name, ...rest]: readonly string[]): JsonSchema {
  if (items !== undefined) return partOf(items, name === undefined ? [] : [name, ...rest]);
  const object = anyOf.find((each) => !isPlain(each));
  if (object !== undefined) return partOf(object, name === undefined ? [] : [name, ...rest]);
  const inner = properties[name ?? ''];
  return name === undefined || inner === undefined ? { properties } : partOf(inner, rest);
}

const isAny = (): boolean => true;

/** The fields that a section explains. */
const fieldsOn = (title: string, isMeant: (item: Item) => boolean = isAny): readonly string[] =>
  itemsOf(page, title)
    .filter(isMeant)
    .flatMap(({ names }) => names)
    .sort();

const isFor =
  (document: string) =>
  ({ remark }: Item): boolean =>
    remark === '' || remark === document;

const status = jsonSchemaOf(DOCUMENTS.Status);
const questions = jsonSchemaOf(DOCUMENTS.Questions);

describe('docs/json.md', () => {
  test.each([
    ['A run', 'run', jsonSchemaOf(DOCUMENTS.Run)],
    ['A run', 'status', status],
    ['Lists of runs', '', jsonSchemaOf(DOCUMENTS.RunList)],
    ['Questions', 'asks', partOf(questions, ['questions'])],
    ['Questions', '', partOf(status, ['questions'])],
    ['Costs', '', jsonSchemaOf(DOCUMENTS.Costs)],
    ['Findings of lint', '', jsonSchemaOf(DOCUMENTS.Lint)],
    ['Results of tests', '', jsonSchemaOf(DOCUMENTS.Tests)],
    ['Owners', '', partOf(status, ['owner'])],
    ['Models', '', partOf(status, ['models'])],
    ['Tokens', '', partOf(status, ['tokens'])],
    ['Warnings', '', partOf(status, ['warnings'])],
    ['Worktrees', '', partOf(status, ['agents', 'worktree'])],
    ['Worktrees', '', partOf(status, ['workspace'])],
    ['Transitions', '', partOf(status, ['transitions'])],
    ['Quota', '', partOf(status, ['quota'])],
  ])('has every field under "%s" %s', (title, document, schema) => {
    expect(fieldsOn(title, isFor(document))).toStrictEqual(fieldsIn(schema));
  });

  test.each(Object.entries(EVENT_FIELDS))('has every field of the event %s', (kind, fields) => {
    const item = itemsOf(page, 'Events').find(({ names }) => names[0] === kind);
    expect(item?.remarked).toStrictEqual(Object.keys(fields));
  });

  test('has no other event, and explains each field', () => {
    expect(fieldsOn('Events')).toStrictEqual(Object.keys(EVENT_FIELDS).sort());
    const names = new Set(['kind', 'at', ...Object.values(EVENT_FIELDS).flatMap((fields) => Object.keys(fields))]);
    expect(fieldsOn('Fields of events')).toStrictEqual([...names].sort());
  });

  test('explains each option that is not in config.toml, and no others', () => {
    const shown = configuration.blocks.find(({ kind }) => kind === 'toml')?.text ?? '';
    const inConfig = new Set([...shown.matchAll(/^(\w+) =/gm)].map(([, key]) => key));
    const others = fieldsIn(jsonSchemaOf(RUN_OPTIONS)).filter((key) => !inConfig.has(key));
    expect(fieldsOn('Options')).toStrictEqual(others);
  });

  test('shows a transition with all its fields', () => {
    const [shown = ''] = page.blocks.filter(({ kind }) => kind === 'json').map(({ text }) => text);
    expect(Object.keys(JSON.parse(shown))).toStrictEqual(Object.keys(createEventDocument(SAMPLE_EVENTS.transition)));
  });

  test.each([
    ['config', DOCUMENTS.Config],
    ['doctor', DOCUMENTS.Doctor],
    ['prune', DOCUMENTS.Prune],
    ['worktrees', DOCUMENTS.Worktrees],
    ['nodes', DOCUMENTS.Nodes],
    ['say', DOCUMENTS.Say],
  ])('names every field of `raymond %s --json`, and no other', (command, schema) => {
    const prose = page.text.slice(page.text.indexOf('## Other documents'));
    const [text = ''] = prose
      .split(/^(?=`raymond )/m)
      .filter((each) => each.startsWith(`\`raymond ${command} --json\``));
    const named = new Set([...text.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name));
    const { fields, values } = wordsIn(schema);
    expect([...fields].filter((name) => !named.has(name))).toStrictEqual([]);
    expect([...named].filter((name = '') => !fields.has(name) && !values.has(name))).toStrictEqual([]);
  });
});

/** The names of all fields of a schema, and the words that their values can be. */
function wordsIn(schema: z.ZodType): { readonly fields: ReadonlySet<string>; readonly values: ReadonlySet<string> } {
  const [fields, values] = [new Set<string>(), new Set<string>(['null'])];
  JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), (key, value: unknown) => {
    if (key === 'properties') for (const name of Object.keys(value as object)) fields.add(name);
    if (key === 'enum') for (const word of value as string[]) values.add(word);
    return value;
  });
  return { fields, values };
}
