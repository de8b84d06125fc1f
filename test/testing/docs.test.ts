/** What docs/testing.md says about keys is held against the schema; its blocks are carried out by doc-commands.test.ts. */
import { expect, test } from 'vitest';
import { END_STATUSES } from '../../src/core/run/run.ts';
import { scenarioKeysAt } from '../../src/scenario/schema.ts';
import { plain } from '../docs/page.ts';
import { openPage } from '../docs/pages.ts';

const page = openPage('docs/testing.md');

const keysUnder = (title: string): readonly string[] =>
  page.sections
    .filter((section) => section.title === title)
    .flatMap(({ tables }) => tables)
    .flatMap(({ rows }) => rows.map(([cell = '']) => plain(cell)));

test.each([
  ['Contents of a scenario', []],
  ['Expectations', ['expect']],
  ['Texts', ['expect', 'result']],
])('every key is named under "%s", and no others', (title, path) => {
  expect(keysUnder(title)).toStrictEqual(scenarioKeysAt(path));
});

test('every option and every status is named', () => {
  const { text } = page;
  for (const option of scenarioKeysAt(['options'])) expect(text).toContain(`\`${option}\``);
  for (const status of END_STATUSES) expect(text).toContain(`\`${status}\``);
});
