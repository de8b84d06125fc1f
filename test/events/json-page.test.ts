/** docs/json.md has every field of every document that Raymond prints, and none besides. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newAgent } from '../../src/core/agent.ts';
import { DEFAULT_OPTIONS } from '../../src/core/options.ts';
import { newRun } from '../../src/core/run.ts';
import { createEventDocument } from '../../src/events/event-document.ts';
import { createQuotaDocument } from '../../src/events/quota.ts';
import { createRunDocument, createStatusDocument } from '../../src/events/run-document.ts';
import { collectHistory } from '../../src/events/run-history.ts';
import { type Interruption, serializeTestReport } from '../../src/testing/report.ts';
import { type CliProject, newCliProject } from '../cli/cli-project.ts';
import { writeWorkflow } from '../cli/owners.ts';
import { plain } from '../docs/page.ts';
import { openPage } from '../docs/pages.ts';
import { SAMPLE_EVENTS } from './sample-events.ts';

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

/** Objects whose names are those of agents, variables and the like. */
const OPEN = [
  'results',
  'variables',
  'options',
  'scenarios[].differences[].expected',
  // Explained in words.
  'questions[].display_files[]',
  'questions[].uploads',
];

/** Numbers of tokens have the same fields everywhere: they have a section of their own. */
const isTokens = (path: string): boolean => /(?:^|\.)tokens$/.test(path);

/** Every field of these documents as the page writes it: `agents[].id`. */
const fieldsIn = (...documents: readonly unknown[]): readonly string[] =>
  [...new Set(documents.flatMap((each) => pathsIn(each, '')))].sort();

function pathsIn(value: unknown, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((each) => pathsIn(each, `${path}[]`));
  if (typeof value !== 'object' || value === null || OPEN.includes(path) || isTokens(path)) return [];
  return Object.entries(value).flatMap(([name, each]) => {
    const inner = path === '' ? name : `${path}.${name}`;
    return [inner, ...pathsIn(each, inner)];
  });
}

function projectWith(workflow: Readonly<Record<string, string>>): CliProject {
  const project = newCliProject();
  writeWorkflow(project.cwd, 'wf', workflow);
  return project;
}

const printed = async (project: CliProject, ...argv: readonly string[]): Promise<unknown> =>
  JSON.parse((await project.raymond(...argv)).out);

const TWO = { 'START.sh': 'echo "<goto>NEXT</goto>"', 'NEXT.sh': 'echo "<result>r</result>"' };

const { ask, question, untilMs } = SAMPLE_EVENTS.asked;
const TAG = { tag: 'ask', target: null, attributes: {}, written: { target: null, attributes: {} } } as const;
const ASKING = { kind: 'asking', ask, question, askedAt: 0, untilMs, tag: TAG, implicit: false } as const;

const ASKS = {
  'START.sh': 'echo "<goto>NEXT</goto>"',
  'NEXT.sh': `echo '<ask next="START" display_files="a.md" upload_bucket="true">Well?</ask>'`,
};

describe('docs/json.md', () => {
  test('has every field of a question', async () => {
    const project = projectWith(ASKS);
    await project.raymond('wf', '--run-id', 'r1', '--quiet');
    expect(fieldsOn('Questions')).toStrictEqual(fieldsIn(await printed(project, 'asks', '--json')));
  });

  test('has every field of a run', async () => {
    const document = await printed(projectWith(TWO), 'wf', '--json');
    const used = createRunDocument(newRun({ ...START, id: 'r1' }), await collectHistory(happened(), 5));
    const asking = await printed(projectWith(ASKS), 'wf', '--json');
    expect(fieldsOn('A run')).toStrictEqual(fieldsIn(document, used, asking));
    const { tokens } = document as { tokens: object };
    expect(fieldsOn('Tokens')).toStrictEqual(Object.keys(tokens).sort());
  });

  test('has every field of a status', async () => {
    const project = projectWith(ASKS);
    await project.raymond('wf', '--run-id', 'r1', '--quiet');
    expect(
      fieldsOn('The status of a run').filter((name) => !/^owner\.|\.stack\[|^models\[|^warnings\[/.test(name)),
    ).toStrictEqual(fieldsIn(await printed(project, 'status', 'r1', '--json')));
    const stack = [{ state: 'BACK.md', session: null, cwd: '/', task: null, nesting: 0, model: null, effort: null }];
    const called = {
      ...newRun({ ...START, id: 'r1' }),
      agents: [{ ...newAgent({ ...MAIN, since: 0 }), stack, phase: ASKING }],
    };
    const owner = { state: 'alive', pid: 1, host: 'h' } as const;
    const situation = { run: called, observedStatus: 'running', owner, damage: [], openConversations: 0 } as const;
    const history = await collectHistory(happened(), 5);
    expect(fieldsOn('The status of a run')).toStrictEqual(fieldsIn(createStatusDocument(situation, history, 0)));
  });

  test('has every field of a quota', () => {
    expect(fieldsOn('Quota')).toStrictEqual(fieldsIn(createQuotaDocument(SAMPLE_EVENTS.quota.quota)));
  });

  test('has every field of a list of runs', async () => {
    const project = projectWith(TWO);
    await project.raymond('wf', '--run-id', 'r1', '--quiet');
    writeFileSync(join(project.cwd, '.raymond', 'state', 'r2.json'), '{');
    const owner = { state: 'alive', pid: 1, host: 'h' };
    const document = (await printed(project, 'list', '--json')) as { runs: object[] };
    const owned = { runs: document.runs.map((run) => ('owner' in run ? { ...run, owner } : run)) };
    expect(fieldsOn('Lists of runs')).toStrictEqual(fieldsIn(owned));
  });

  test('has every field of the costs', async () => {
    const project = projectWith(TWO);
    await project.raymond('wf', '--run-id', 'r1', '--quiet');
    writeFileSync(join(project.cwd, '.raymond', 'state', 'r2.json'), '{');
    const document = (await printed(project, 'costs', '--json')) as { total: object };
    expect(fieldsOn('Costs')).toStrictEqual(fieldsIn({ ...document, rows: [{ key: 'r1', ...document.total }] }));
  });

  test.each(Object.entries(SAMPLE_EVENTS))('has every field of the event %s', (kind, event) => {
    const kinds = column('Events', 'Event', 'Event').flat();
    const stated = column('Events', 'Event', 'Fields')[kinds.indexOf(kind)] ?? [];
    expect(['kind', 'at', ...stated]).toStrictEqual(Object.keys(createEventDocument(event)));
  });

  test('has no other event, and explains each field', () => {
    expect(column('Events', 'Event', 'Event').flat()).toStrictEqual(Object.keys(SAMPLE_EVENTS));
    const lines = Object.values(SAMPLE_EVENTS).map(createEventDocument);
    const names = new Set(lines.flatMap((line) => Object.keys(line)));
    expect(fieldsOn('Events', 'Field of an event')).toStrictEqual([...names].sort());
    const { options } = createEventDocument(SAMPLE_EVENTS.run_resumed) as { options: object };
    expect(fieldsOn('Options', 'Option')).toStrictEqual(Object.keys(options).sort());
  });

  test('shows a transition with all its fields', () => {
    const [shown = ''] = page.blocks.filter(({ kind }) => kind === 'json').map(({ text }) => text);
    expect(Object.keys(JSON.parse(shown))).toStrictEqual(Object.keys(createEventDocument(SAMPLE_EVENTS.transition)));
  });

  test('has every field of a lint document', async () => {
    const project = projectWith({
      'START.md': 'Say <goto>LOOP</goto>.',
      'LOOP.sh': 'echo "<goto>$NEXT</goto>"',
      'AGAIN.sh': 'echo "<goto>LOOP</goto>"',
    });
    expect(fieldsOn('Findings of lint')).toStrictEqual(fieldsIn(await printed(project, 'lint', 'wf', '--json')));
  });

  test('has every field of a test document', async () => {
    const policy = '---\nallowed_transitions:\n  - { tag: goto, target: START.md }\n  - { tag: result }\n---\n';
    const project = projectWith({
      'START.md': `${policy}Say <result>x</result>.`,
      'a.test.yaml':
        'answers: { START: <result>r</result> }\nexpect: { result: a, files: { out.txt: { contains: x } } }',
      'b.test.yaml': 'answers: { START: <result>r</result> }',
      'c.test.yaml': 'expect: { reslut: a }',
    });
    const document = await printed(project, 'test', 'wf', '--json', '--coverage', '--keep');
    const testCase = { file: 'a.test.yaml', spec: { name: 'one', at: { line: 1 } }, workflow: { path: '/wf' } };
    const interruption = { interrupted: [{ testCase, positions: [] }], notStarted: 1 } as unknown as Interruption;
    const nothing = { results: [], unusable: [], untested: [], tookMs: 0, coverages: null };
    const stopped = serializeTestReport({ ...nothing, interruption }, '/');
    expect(fieldsOn('Results of tests')).toStrictEqual(fieldsIn(document, stopped));
  });
});

const START = {
  workflow: { name: 'wf', path: '/wf', platform: 'unix' },
  startedAt: 0,
  options: DEFAULT_OPTIONS,
  state: 'START.md',
  cwd: '/',
  input: null,
} as const;

const MAIN = {
  id: 'main',
  parent: null,
  state: 'START.md',
  cwd: '/',
  input: null,
  model: null,
  effort: null,
  variables: {},
};

async function* happened() {
  yield SAMPLE_EVENTS.turn_ended;
  yield SAMPLE_EVENTS.warning;
  yield SAMPLE_EVENTS.transition;
}
