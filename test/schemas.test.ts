/**
 * The schemas in schemas/ are made by `npm run schemas` from the tables that the loaders use. Here it is shown that they
 * are up to date, and that a schema allows exactly what its loader takes.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONFIG_OPTIONS } from '../src/config/config.ts';
import { configSchema } from '../src/config/template.ts';
import { EFFORTS } from '../src/language/claude-values.ts';
import { stem } from '../src/language/state-names.ts';
import { TAG_NAMES } from '../src/language/transitions/index.ts';
import { scenarioSchema } from '../src/scenario/json-schema.ts';
import { readScenario } from '../src/scenario/read-scenario.ts';
import { scenarioKeysAt } from '../src/scenario/schema.ts';
import { FRONTMATTER_KEYS, frontmatterSchema } from '../src/workflow/frontmatter-keys.ts';
import { MANIFEST_KEYS } from '../src/workflow/manifest.ts';
import { openWorkflow } from '../src/workflow/workflow.ts';
import { workflowSchema } from '../src/workflow/workflow-schema.ts';
import {
  acceptsConfig,
  acceptsFrontmatter,
  acceptsScenario,
  acceptsWorkflow,
  frontmatterText,
} from './schemas/loaders.ts';
import { listed, type Node } from './schemas/node.ts';
import { PROJECT, published, validate } from './schemas/published.ts';
import { documentsFor } from './schemas/random.ts';
import { sweep } from './schemas/sweep.ts';
import { temporaryFolders } from './workflow/temp.ts';

const folderOf = temporaryFolders();

describe('the published schemas', () => {
  test.each([
    ['frontmatter', frontmatterSchema],
    ['workflow', workflowSchema],
    ['scenario', scenarioSchema],
    ['config', configSchema],
  ])('schemas/%s.schema.json is what `npm run schemas` makes', (name, make) => {
    expect(JSON.stringify(published(name), null, 2)).toBe(JSON.stringify(make(), null, 2));
  });

  test('are part of the package', () => {
    expect(JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')).files).toContain('schemas');
  });

  test('use the newest draft that every editor supports', () => {
    for (const name of Object.keys(validate)) {
      expect(published(name).$schema).toBe('http://json-schema.org/draft-07/schema#');
    }
  });
});

const keysOf = (node: Node | undefined): readonly string[] => Object.keys(listed(node, 'properties'));

describe('a schema has every key, with a description,', () => {
  test('in the frontmatter', () => {
    const schema = published('frontmatter');
    expect(keysOf(schema)).toStrictEqual(
      Object.keys(FRONTMATTER_KEYS).filter((key) => FRONTMATTER_KEYS[key]?.onlyFor !== 'script'),
    );
    const { items } = listed(schema, 'properties').allowed_transitions ?? {};
    const { anyOf: entries } = items as { readonly anyOf: readonly Node[] };
    expect(entries.map((entry) => listed(entry, 'properties').tag?.const)).toStrictEqual(TAG_NAMES);
    expectPurposes(schema);
  });

  test('in workflows and manifests', () => {
    const schema = published('workflow');
    const { prompt, script } = listed(schema, 'definitions');
    const keysFor = (kind: string): readonly string[] =>
      Object.keys(FRONTMATTER_KEYS).filter((key) => (FRONTMATTER_KEYS[key]?.onlyFor ?? kind) === kind);
    expect(keysOf(schema)).toStrictEqual([...Object.keys(MANIFEST_KEYS), 'states']);
    expect(keysOf(prompt)).toStrictEqual(['prompt', ...keysFor('prompt')]);
    expect(keysOf(script)).toStrictEqual(['sh', 'ps1', 'bat', ...keysFor('script')]);
    expectPurposes(schema, prompt, script);
  });

  test('in scenarios and canned answers', () => {
    const schema = published('scenario');
    const { scenario, options, expect: expected, state, visit, turn, text, fileText } = listed(schema, 'definitions');
    expect(keysOf(schema)).toStrictEqual(scenarioKeysAt([]));
    expect(keysOf(scenario)).toStrictEqual(scenarioKeysAt(['scenarios']));
    expect(keysOf(options)).toStrictEqual(scenarioKeysAt(['options']));
    expect(keysOf(expected)).toStrictEqual(scenarioKeysAt(['expect']));
    expect(keysOf(text)).toStrictEqual(scenarioKeysAt(['expect', 'result']));
    expect(keysOf(fileText)).toStrictEqual(scenarioKeysAt(['expect', 'files']));
    expect(keysOf(state)).toStrictEqual(scenarioKeysAt(['answers', 'START.md']));
    expect(keysOf(visit)).toStrictEqual(scenarioKeysAt(['answers', 'START.md', 'visits']));
    expect(keysOf(turn)).toStrictEqual(scenarioKeysAt(['answers', 'START.md', 'turns']));
    expectPurposes(schema, scenario, expected, state, visit, turn, text, fileText);
  });

  test('in the config file', () => {
    const schema = published('config');
    const { raymond } = listed(schema, 'properties');
    expect(keysOf(raymond)).toStrictEqual(CONFIG_OPTIONS.map(({ key }) => key));
    expectPurposes(schema, raymond);
  });

  function expectPurposes(...nodes: readonly (Node | undefined)[]): void {
    const keys = nodes.flatMap((node) => Object.entries(listed(node, 'properties')));
    for (const [key, { description }] of keys) expect(description, key).toMatch(/\.$/);
  }
});

test('the frontmatter schema suggests models and efforts everywhere, and refuses no others', () => {
  const schema = published('frontmatter');
  const { items } = listed(schema, 'properties').allowed_transitions ?? {};
  const { anyOf: entries } = items as { readonly anyOf: readonly Node[] };
  const places = [schema, ...entries].map((each) => listed(each, 'properties'));
  for (const [key, words] of [
    ['model', ['opus', 'sonnet', 'haiku']],
    ['effort', EFFORTS],
  ] as const) {
    const offers = places.flatMap(({ [key]: place }) => (place === undefined ? [] : [place.examples]));
    expect(new Set(offers.map((offer) => JSON.stringify(offer)))).toStrictEqual(new Set([JSON.stringify(words)]));
    expect(validate.frontmatter({ [key]: 'another' })).toBe(true);
  }
});

describe.each([
  { name: 'frontmatter', takes: acceptsFrontmatter, documents: (value: unknown) => value },
  { name: 'workflow', takes: acceptsWorkflow, documents: withDistinctStates },
  { name: 'scenario', takes: acceptsScenario, documents: withDistinctNames },
  { name: 'config', takes: acceptsConfig, documents: withoutNothing },
] as const)('the $name schema accepts the same as the loader', ({ name, takes, documents }) => {
  test('for every value in every place', () => {
    const cases = [...sweep(published(name))].map(documents).map((value) => ({ value, taken: takes(value) }));
    expect(cases.filter(({ value, taken }) => validate[name](value) !== taken)).toStrictEqual([]);
    // If nearly all were refused, or nearly none, little would have been compared.
    const share = cases.filter(({ taken }) => taken).length / cases.length;
    expect(Math.min(share, 1 - share)).toBeGreaterThan(0.2);
  }, 120_000);

  test('for random documents', () => {
    const values = documentsFor(published(name)).map(documents);
    fc.assert(
      fc.property(values, (value) => validate[name](value) === takes(value)),
      { numRuns: 1000 },
    );
  });
});

/** A schema cannot say that scenarios must differ in one key, so of several with one name only the first is kept. */
function withDistinctNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('scenarios' in value) || !Array.isArray(value.scenarios))
    return value;
  const nameOf = (scenario: unknown): unknown => (scenario as { readonly name?: unknown } | null)?.name;
  // A number or a boolean is a name as well: 3 and '3' are the same one.
  const isNamed = (scenario: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof nameOf(scenario));
  const isFirst = (scenario: unknown, at: number, all: readonly unknown[]): boolean =>
    all.findIndex((other) => isNamed(other) && String(nameOf(other)) === String(nameOf(scenario))) === at;
  return { ...value, scenarios: value.scenarios.filter((...each) => !isNamed(each[0]) || isFirst(...each)) };
}

/** A schema cannot say that X and X.md are the same state, so only the first is kept; and a document has no key `<<`. */
function withDistinctStates(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('states' in value)) return value;
  const { states } = value;
  if (typeof states !== 'object' || states === null || Array.isArray(states)) return value;
  const names = new Set<string>();
  const kept = Object.entries(states).filter(([name]) => names.size < names.add(stem(name)).size);
  return { ...value, states: Object.fromEntries(kept) };
}

/** TOML has no word for nothing, and a file of it is always a table. */
function withoutNothing(value: unknown): unknown {
  const given = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.filter((one) => one !== null).map(given);
    if (typeof each !== 'object' || each === null) return each;
    const pairs = Object.entries(each).filter(([, one]) => one !== null);
    return Object.fromEntries(pairs.map(([key, one]) => [key, given(one)]));
  };
  return typeof value === 'object' && !Array.isArray(value) ? (given(value) ?? {}) : {};
}

/** All that a schema cannot say, or should not. docs/editor.md tells it to authors. */
describe('the loader also checks', () => {
  const entry = (keys: object): object => ({ allowed_transitions: [{ tag: 'goto', ...keys }] });
  const answers = (states: object): object => ({ answers: states });

  test('the existing states', async () => {
    const unknown = entry({ target: 'B.md' });
    expect(validate.frontmatter(unknown)).toBe(true);
    const folder = folderOf({ 'START.md': frontmatterText(unknown) });
    await expect(openWorkflow(folder, 'unix')).rejects.toThrow('there is no state `B.md`');
    expect(validate.scenario(answers({ 'B.md': 'x' }))).toBe(true);
    expect(acceptsScenario(answers({ 'B.md': 'x' }), ['START.md'])).toBe(false);
  });

  test('the state of a name without its extension', () => {
    const both = answers({ START: 'x', 'START.md': 'x' });
    const code = answers({ START: { text: 'x', exit: 1 } });
    expect([validate.scenario(both), acceptsScenario(both, ['START.md'])]).toStrictEqual([true, false]);
    expect([validate.scenario(code), acceptsScenario(code, ['START.sh'])]).toStrictEqual([true, true]);
    expect(acceptsScenario(code, ['START.md'])).toBe(false);
  });

  test('duplicate names of scenarios', () => {
    for (const scenarios of [
      [
        { name: '\uFEFF', answers: {} },
        { name: '\uFEFF', scripts: 'real' },
      ],
      [{ name: 3 }, { name: '3' }],
    ]) {
      const repeated = { answers_from: 0, files: {}, scenarios };
      expect([validate.scenario(repeated), acceptsScenario(repeated)]).toStrictEqual([true, false]);
      expect(acceptsScenario(withDistinctNames(repeated))).toBe(true);
    }
  });

  test('the content of another file', () => {
    const others = { answers_from: 'nowhere.yaml' };
    const read = () => readScenario('a.test.yaml', JSON.stringify(others), { files: [], platform: 'unix' });
    expect(validate.scenario(others)).toBe(true);
    expect(read).toThrow('there is no nowhere.yaml');
  });

  test('words of the language in any letter case; a schema would have to list every spelling', () => {
    for (const same of [entry({ tag: 'GOTO' }), entry({ tag: ' goto ' }), entry({ Target: 'A' })]) {
      expect([validate.frontmatter(same), acceptsFrontmatter(same)]).toStrictEqual([false, true]);
    }
    const wrong = entry({ tag: 'fork', RETURN: 'A' });
    expect([validate.frontmatter(wrong), acceptsFrontmatter(wrong)]).toStrictEqual([true, false]);
  });

  test('a key `__proto__` in a scenario, which is ignored', () => {
    const odd = JSON.parse('{ "expect": { "turns": { "__proto__": -1 } } }');
    expect([validate.scenario(odd), acceptsScenario(odd)]).toStrictEqual([false, true]);
  });

  test('the platform', () => {
    const path = entry({ tag: 'fork', path: 'a' });
    expect([validate.frontmatter(path), acceptsFrontmatter(path, 'unix')]).toStrictEqual([true, true]);
    expect(acceptsFrontmatter(path, 'windows')).toBe(false);
  });
});
