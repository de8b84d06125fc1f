/** docs/json.md has every field of every document that Raymond prints, and none besides. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createEventDocument } from '../../src/documents/event-document.ts';
import { EVENT_FIELDS, RUN_OPTIONS } from '../../src/documents/event-schemas.ts';
import { DOCUMENTS } from '../../src/documents/schemas.ts';
import { QUOTA, TOKENS } from '../../src/documents/shared-schemas.ts';
import { plain } from '../docs/page.ts';
import { openPage } from '../docs/pages.ts';
import { SAMPLE_EVENTS } from '../render/sample-events.ts';

const page = openPage('docs/json.md');

/** The pieces of code in a column of a table, row by row. */
function column(title: string, first: string, header: string): readonly (readonly string[])[] {
  const table = page.sections
    .filter((section) => section.title === title)
    .flatMap(({ tables }) => tables)
    .find(({ header: [head] }) => head === first);
  const at = table?.header.indexOf(header) ?? -1;
  return (table?.rows ?? []).map((row) => plain(row[at] ?? '').split('\n'));
}

const fieldsOn = (title: string, header = 'Field'): readonly string[] => column(title, header, header).flat().sort();

/** Fields whose own fields have a section of their own, or are explained in the words of their row. */
const isExplained = (path: string): boolean =>
  /(?:^|\.|\])(?:tokens|quota|worktree|workspace|waits_for_workers|display_files\[\]|uploads|choices|permission|expected)$/.test(
    path,
  );

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

/** Every field that a schema names, as the page writes it: `agents[].id`. Names of agents and the like are no fields. */
const fieldsIn = (schema: z.ZodType): readonly string[] =>
  [...new Set(pathsIn(z.toJSONSchema(schema, { io: 'input' }) as JsonSchema, ''))].sort();

function pathsIn({ properties = {}, items, anyOf = [] }: JsonSchema, path: string): readonly string[] {
  if (isExplained(path)) return [];
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => {
      const full = path === '' ? name : `${path}.${name}`;
      return [full, ...pathsIn(inner, full)];
    }),
    ...(items === undefined ? [] : pathsIn(items, `${path}[]`)),
    ...anyOf.flatMap((each) => pathsIn(each, path)),
  ];
}

describe('docs/json.md', () => {
  test.each([
    ['A run', DOCUMENTS.Run],
    ['The status of a run', DOCUMENTS.Status],
    ['Lists of runs', DOCUMENTS.RunList],
    ['Questions', DOCUMENTS.Questions],
    ['Costs', DOCUMENTS.Costs],
    ['Tokens', TOKENS],
    ['Quota', QUOTA],
    ['Findings of lint', DOCUMENTS.Lint],
    ['Results of tests', DOCUMENTS.Tests],
  ])('has every field of the document under "%s"', (title, schema) => {
    expect(fieldsOn(title)).toStrictEqual(fieldsIn(schema));
  });

  test.each(Object.entries(EVENT_FIELDS))('has every field of the event %s', (kind, fields) => {
    const kinds = column('Events', 'Event', 'Event').flat();
    expect(column('Events', 'Event', 'Fields')[kinds.indexOf(kind)] ?? []).toStrictEqual(Object.keys(fields));
  });

  test('has no other event, and explains each field', () => {
    expect(column('Events', 'Event', 'Event').flat().sort()).toStrictEqual(Object.keys(EVENT_FIELDS).sort());
    const names = new Set(['kind', 'at', ...Object.values(EVENT_FIELDS).flatMap((fields) => Object.keys(fields))]);
    expect(fieldsOn('Events', 'Field of an event')).toStrictEqual([...names].sort());
    expect(fieldsOn('Options', 'Option')).toStrictEqual(fieldsIn(RUN_OPTIONS));
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
