import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { answer } from '../../src/app/answer.ts';
import { resumeRun } from '../../src/app/resume.ts';
import { openWorkflow, runWorkflow } from '../../src/app/start.ts';
import type { Options } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import { storageIn } from '../storage/files/open-files.ts';

const SCHEMA = 'type: object\n  required: [count]\n  properties: { count: { type: integer } }';
const CALLEE = (result: string, schema = SCHEMA): string =>
  `#!/bin/bash\n# ---\n# result_schema:\n#   ${schema.replaceAll('\n', '\n# ')}\n# ---\necho '<result>${result}</result>'\n`;
const CALL = `echo '<call return="END">COUNT</call>'`;
const END = `cat "$RAYMOND_RESULT_FILE" > got; echo "<result>$RAYMOND_RESULT</result>"`;

function newFolder(files: Readonly<Record<string, string>>) {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-shape-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(cwd, 'wf'));
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  for (const [name, text] of Object.entries(files)) write(join('wf', name), text);
  return { cwd, write };
}

async function run(cwd: string, options: Partial<Options> = {}) {
  const events: Event[] = [];
  const handle = await runWorkflow('wf', { cwd, options, observe: (event) => events.push(event), env: REPLAY });
  return { run: await handle.finished, events };
}

const REPLAY = { ...process.env, RAYMOND_REPLAY: 'fast' };

test('a result that fits is handed on', async () => {
  const { cwd } = newFolder({ 'START.sh': CALL, 'COUNT.sh': CALLEE('{"count": 3}'), 'END.sh': END });
  const { run: ended } = await run(cwd);
  expect(ended.agents[0]?.phase).toStrictEqual({ kind: 'ended', result: '{"count": 3}' });
  expect(readFileSync(join(cwd, 'got'), 'utf8')).toBe('{"count": 3}');
});

test('a script whose result does not fit fails, with path and reason', async () => {
  const { cwd } = newFolder({ 'START.sh': CALL, 'COUNT.sh': CALLEE('{"count": "many"}'), 'END.sh': END });
  const { run: ended } = await run(cwd);
  expect(ended.status).toBe('failed');
  expect(ended.agents[0]?.phase).toMatchObject({
    message: expect.stringContaining('its <result> does not fit `result_schema`: `/count` must be integer'),
  });
});

test('a prompt is reminded, and the next prompt gets the parts', async () => {
  const { cwd, write } = newFolder({
    'START.md': '---\nallowed_transitions: [{ tag: call, target: COUNT, return: END }]\n---\nGo.',
    'COUNT.md': '---\nresult_schema: shape.yaml\n---\nCount.',
    'shape.yaml': SCHEMA.replaceAll('\n  ', '\n'),
    'END.md': 'There are {{result.count}} of them.',
  });
  write(
    'answers.yaml',
    `answers:
  START: ok
  COUNT: { turns: [{ text: <result>many</result> }, { text: '<result>{"count":3}</result>' }] }
  END: <result>done</result>\n`,
  );
  const { run: ended, events } = await run(cwd, { agent: `replay:${join(cwd, 'answers.yaml')}` });
  expect(ended.status).toBe('completed');
  expect(events.flatMap((event) => (event.kind === 'reminded' ? [event.problem, event.message] : []))).toStrictEqual([
    'bad_result',
    expect.stringMatching(/^its <result> does not fit `result_schema`: it is not JSON/),
  ]);
  const folder = join(cwd, '.raymond', 'runs', ended.id, 'turns');
  expect(readFileSync(join(folder, '0004-main-END', 'stdin'), 'utf8')).toBe('There are 3 of them.');
  expect(readFileSync(join(folder, '0003-main-COUNT', 'stdin'), 'utf8')).toContain('does not fit');
});

test('a result that a changed schema refuses is not used after a resume, until the schema is changed back', async () => {
  const { cwd, write } = newFolder({ 'START.sh': CALL, 'COUNT.sh': CALLEE('{"count": 3}'), 'END.sh': END });
  // The run stops between the result and its use.
  const { run: stopped } = await run(cwd, { maxIterations: 2 });
  expect(stopped.status).toBe('iteration_limit');
  write('wf/COUNT.sh', CALLEE('{"count": 3}', 'type: array'));
  const paused = await (await resumeRun('last', { cwd, options: { maxIterations: 9 }, acceptChangedCode: true }))
    .finished;
  expect(paused.agents[0]?.phase).toMatchObject({
    kind: 'paused',
    message: expect.stringContaining(
      'END.sh: the result of COUNT.sh no longer fits its `result_schema`: it must be array.',
    ),
  });
  write('wf/COUNT.sh', CALLEE('{"count": 3}', 'type: object'));
  expect((await (await resumeRun('last', { cwd, acceptChangedCode: true })).finished).status).toBe('completed');
});

test.each([
  ['a script', 'ASK.sh', `echo '<ask next="END">How many?</ask>'`],
  ['a prompt', 'ASK.md', 'Ask.'],
])('a person may answer %s with anything after a result with a schema, also across a resume', async (_, file, text) => {
  const { cwd, write } = newFolder({
    'START.sh': `echo '<function return="ASK">COUNT</function>'`,
    'COUNT.sh': CALLEE('{"count": 3}'),
    [file]: text,
    'END.sh': END,
  });
  write('answers.yaml', `answers:\n  ASK: '<ask next="END">How many?</ask>'\n`);
  const agent = `replay:${join(cwd, 'answers.yaml')}`;
  const { run: waiting } = await run(cwd, { onAsk: 'exit', ...(file.endsWith('.md') && { agent }) });
  expect(waiting.status).toBe('waiting');
  await answer('last', { storage: storageIn(cwd), env: REPLAY, ask: null, text: 'a few', files: [] });
  const ended = await (await resumeRun(waiting.id, { cwd, env: REPLAY })).finished;
  expect(ended.agents[0]?.phase).toStrictEqual({ kind: 'ended', result: 'a few' });
});

test.each([
  ['an unknown type', 'type: strng', 'COUNT.md:3:9', 'is not a JSON Schema at `/type`: must be'],
  ['an unknown keyword', 'requird: [a]', 'COUNT.md:3:3', '`requird` is no keyword of it'],
  [
    'a reference to elsewhere',
    '$ref: other.json',
    'COUNT.md:3:3',
    '`$ref` `other.json` leads to no place in this schema',
  ],
])('a schema with %s is refused before the run, with file and line', async (_, schema, place, message) => {
  const { cwd } = newFolder({ 'START.md': 'Go.', 'COUNT.md': `---\nresult_schema:\n  ${schema}\n---\nCount.` });
  const error = await openWorkflow(join(cwd, 'wf'), 'unix').then(
    () => '',
    ({ message: text, hint = '' }) => `${text} ${hint}`,
  );
  expect(error).toContain(place);
  expect(error).toContain(message);
});

test.each([
  ['is missing', {}, 'there is no file `shape.json` in the workflow'],
  ['is not JSON', { 'shape.json': '{' }, 'shape.json:1'],
  ['is no schema', { 'shape.json': '[1]' }, 'the schema must be a JSON Schema'],
  [
    'has a mistake',
    { 'shape.json': '{\n "type": "x"}' },
    'shape.json:2:10: the schema is not a JSON Schema at `/type`',
  ],
])('a schema whose file %s is refused', async (_, files, message) => {
  const { cwd } = newFolder({ 'START.md': '---\nresult_schema: shape.json\n---\nGo.', ...files });
  const error = await openWorkflow(join(cwd, 'wf'), 'unix').then(
    () => '',
    ({ message: text, hint = '' }) => `${text} ${hint}`,
  );
  expect(error).toContain(message);
});
