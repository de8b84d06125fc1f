/** Whole workflows as steps: how they are found, entered, left, and what is said of those that cannot be. */
import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { buildZip } from '../workflow/zip-builder.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

const call = (spec: string, more = ''): string =>
  `echo '<call-workflow return="BACK"${more}>${spec}</call-workflow>'\n`;
const BACK = 'echo "<result>back with $RAYMOND_RESULT</result>"\n';

/** Writes files by their path, and returns the project. */
function projectWith(files: Readonly<Record<string, string | Uint8Array>>): CliProject {
  const project = newCliProject();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(project.cwd, path)), { recursive: true });
    writeFileSync(join(project.cwd, path), content);
  }
  return project;
}

const zipOf = (files: Readonly<Record<string, string>>): Uint8Array =>
  buildZip(Object.entries(files).map(([name, data]) => ({ name, data })));

/** The result and the steps of a run of the workflow `main`. */
async function runMain({ raymond }: CliProject, ...flags: readonly string[]) {
  const { code, out, err } = await raymond('main', '--json', ...flags);
  if (out === '') return { code, err, result: null, steps: [] };
  const { results, transitions } = JSON.parse(out);
  const steps = transitions.map(({ agent, from, to }: Record<string, string>) => `${agent} ${from} ${to ?? 'end'}`);
  return { code, err, result: results.main, steps };
}

test.each([
  ['a folder', '../lib', 'START'],
  ['a state of a folder', '../lib/OTHER.sh', 'OTHER'],
  ['a state of a folder without its extension', '../lib/OTHER', 'OTHER'],
  ['a zip', '../pack.zip', 'START'],
  ['a state of a zip', '../pack.zip/OTHER', 'OTHER'],
  ['one file', '../flow.yaml', 'START'],
  ['a state of one file', '../flow.yaml/OTHER.md', 'OTHER'],
  ['a folder inside its own', 'inner', 'START'],
  ['a path with other slashes', '..\\lib\\', 'START'],
])('%s can be called, and its result comes back', async (_, spec, state) => {
  const states = {
    'START.sh': 'echo "<result>$RAYMOND_STATE</result>"\n',
    'OTHER.sh': 'echo "<result>$RAYMOND_STATE</result>"\n',
  };
  const project = projectWith({
    'main/START.sh': call(spec),
    'main/BACK.sh': BACK,
    'main/inner/START.sh': states['START.sh'],
    'lib/START.sh': states['START.sh'],
    'lib/OTHER.sh': states['OTHER.sh'],
    'pack.zip': zipOf(states),
    'flow.yaml': `states:\n  START:\n    sh: ${JSON.stringify(states['START.sh'])}\n  OTHER:\n    sh: ${JSON.stringify(states['OTHER.sh'])}\n`,
  });
  const { code, result } = await runMain(project);
  expect(code).toBe(0);
  expect(result).toMatch(new RegExp(`^back with (lib|pack|flow|inner)/${state}\\.sh$`));
});

test('a zip and a one-file workflow name others as if they were a folder, and those beside them', async () => {
  const project = projectWith({
    'main/START.sh': call('../flow.yaml'),
    'main/BACK.sh': BACK,
    'flow.yaml': `states:\n  START:\n    sh: |\n      ${call('../pack.zip')}  BACK:\n    sh: |\n      ${BACK}`,
    'pack.zip': zipOf({ 'START.sh': call('last.yaml'), 'BACK.sh': BACK }),
    'last.yaml': 'states:\n  START:\n    sh: echo "<result>$RAYMOND_STATE</result>"\n',
  });
  const { result, steps } = await runMain(project);
  expect(result).toBe('back with back with back with last/START.sh');
  expect(steps).toStrictEqual([
    'main START.sh flow/START.sh',
    'main flow/START.sh pack/START.sh',
    'main pack/START.sh last/START.sh',
    'main last/START.sh pack/BACK.sh',
    'main pack/BACK.sh flow/BACK.sh',
    'main flow/BACK.sh BACK.sh',
    'main BACK.sh end',
  ]);
});

test('two workflows of one name are told apart, and workers are called after theirs', async () => {
  const forks = ['a', 'b'].map((each) => `echo '<fork-workflow item="${each}">../${each}/lib</fork-workflow>'\n`);
  const project = projectWith({
    'main/START.sh': `${forks.join('')}echo '<goto>BACK</goto>'\n`,
    'main/BACK.sh': 'echo "<result>on</result>"\n',
    'a/lib/START.sh': 'echo "<result>$RAYMOND_STATE $item $(basename "$(dirname "$RAYMOND_WORKFLOW_DIR")")</result>"\n',
    'b/lib/START.sh': 'echo "<result>$RAYMOND_STATE $item $(basename "$(dirname "$RAYMOND_WORKFLOW_DIR")")</result>"\n',
  });
  const { out } = await project.raymond('main', '--json');
  expect(JSON.parse(out).results).toStrictEqual({
    main: 'on',
    main_lib1: 'lib/START.sh a a',
    main_lib2: 'lib-2/START.sh b b',
  });
});

test('of the manifest of a called workflow, its variables, its environment and its input count', async () => {
  const project = projectWith({
    'main/START.sh': call('../lib', ' input="x"'),
    'main/BACK.sh': 'echo "<result>$RAYMOND_RESULT, then $tone $shared $WHERE</result>"\n',
    'main/workflow.yaml': 'vars: { shared: main, tone: loud }\nenvironment: { WHERE: main }\n',
    'lib/START.sh': 'echo "<result>$tone $shared $chosen $WHERE</result>"\n',
    'lib/workflow.yaml':
      'default_budget: 0.01\ninput: { mode: required }\nvars: { tone: dry, chosen: lib }\nenvironment: { WHERE: lib }\n',
  });
  const { result } = await runMain(project, '--var', 'chosen=user');
  expect(result).toBe('dry main user lib, then loud main main');
});

test('reset-workflow leaves for good', async () => {
  const project = projectWith({
    'main/START.sh': "echo '<call-workflow return=BACK>../lib</call-workflow>'\n",
    'main/BACK.sh': BACK,
    'lib/START.sh': "echo '<reset-workflow>../last</reset-workflow>'\n",
    'last/START.sh': 'echo "<result>the end</result>"\n',
  });
  const { result, steps } = await runMain(project);
  expect(result).toBe('the end');
  expect(steps.at(-1)).toBe('main last/START.sh end');
});

const policy = (entry: string): string => `---\nallowed_transitions:\n  - ${entry}\n---\nGo.\n`;
const callPolicy = (spec: string): string => policy(`{ tag: call-workflow, target: "${spec}", return: BACK }`);
const MAIN = { 'main/BACK.md': 'x' };

test.each([
  ['a workflow that is not there', '../gone', {}, 'START.md:3:35: `target`: there is no ../gone'],
  [
    'a misspelt one',
    '../lbi',
    { 'lib/START.md': 'x' },
    'START.md:3:35: `target`: there is no ../lbi (did you mean lib?)',
  ],
  [
    'a state that is not in it',
    '../lib/NOWHERE.md',
    { 'lib/START.md': 'x' },
    'START.md:3:35: `target`: ../lib/NOWHERE.md: there is no state `NOWHERE.md` in ../lib',
  ],
  [
    'a state without extension that is not in it',
    '../lib/NOWHERE',
    { 'lib/START.md': 'x' },
    'START.md:3:35: `target`: ../lib/NOWHERE: there is neither a state `NOWHERE` nor a workflow of that name in ../lib',
  ],
  [
    'a state that is not in a zip',
    '../a.zip/NOWHERE',
    { 'a.zip': zipOf({ 'START.md': 'x' }) },
    'there is no state `NOWHERE` in that workflow',
  ],
  ['a folder without a first state', '../lib', { 'lib/A.md': 'x' }, 'there is no state to start in'],
  ['a path that leads out of the root', '../../lib', {}, 'it leads out of '],
  [
    'a zip with another hash',
    `../a-${'0'.repeat(64)}.zip`,
    { [`a-${'0'.repeat(64)}.zip`]: zipOf({ 'START.md': 'x' }) },
    'its name states the SHA-256 of another file',
  ],
  [
    'one with a wrong manifest',
    '../lib',
    { 'lib/START.md': 'x', 'lib/workflow.yaml': 'default_budget: much\n' },
    'lib/workflow.yaml:1:17: `default_budget`',
  ],
  [
    'one with a wrong policy',
    '../lib',
    { 'lib/START.md': policy('{ tag: goto, target: NOWHERE }') },
    'lib/START.md:3:26: `target`: there is no state `NOWHERE` in this workflow',
  ],
])('before anything starts, a policy is refused that names %s', async (_, spec, files, message) => {
  const project = projectWith({ ...MAIN, 'main/START.md': callPolicy(spec), ...files });
  const { code, err } = await runMain(project);
  expect(code).toBe(65);
  expect(err).toContain(message);
});

test('a plain name in one file that is neither a state nor a workflow beside it is called missing as either', async () => {
  const flow = `states:
  START:
    sh: echo '<call-workflow return="START">other</call-workflow>'
`;
  const { raymond } = projectWith({ 'main.yaml': flow });
  const { code, err } = await raymond('main.yaml');
  expect([code, err]).toStrictEqual([
    3,
    expect.stringContaining('there is neither a state `other` in this workflow nor a workflow of that name beside it'),
  ]);
});

test('a zip whose name states its hash is called by a short name', async () => {
  const zip = zipOf({ 'START.sh': 'echo "<result>$RAYMOND_STATE</result>"\n' });
  const name = `pack-${createHash('sha256').update(zip).digest('hex')}.zip`;
  const project = projectWith({ 'main/START.sh': call(`../${name}`), 'main/BACK.sh': BACK, [name]: zip });
  expect((await runMain(project)).result).toBe('back with pack/START.sh');
});

test('a chain of policies that nests too deep is refused before anything starts', async () => {
  const project = projectWith({
    ...MAIN,
    'main/START.md': callPolicy('../w1'),
    ...Object.fromEntries(
      [1, 2, 3].flatMap((n) => [
        [`w${n}/START.md`, n < 3 ? callPolicy(`../w${n + 1}`) : 'x'],
        [`w${n}/BACK.md`, 'x'],
      ]),
    ),
  });
  const { code, err } = await runMain(project, '--max-depth', '2');
  expect([code, err]).toStrictEqual([
    65,
    expect.stringContaining(
      'w2/START.md:3:35: `target`: ../w3 would be nested in 3 workflows, and at most 2 are allowed (`max_depth`)',
    ),
  ]);
});

test('policies that call each other without end are refused before anything starts, and named by lint', async () => {
  const project = projectWith({
    ...MAIN,
    'main/START.md': callPolicy('../lib'),
    'lib/START.md': callPolicy('../main'),
    'lib/BACK.md': 'x',
  });
  const { code, err } = await runMain(project);
  expect([code, err]).toStrictEqual([
    65,
    expect.stringContaining(
      'main/START.md:3:5: workflows call each other without end: START.md → lib/START.md → START.md, and none of these states can return',
    ),
  ]);
  expect((await project.raymond('lint', 'main')).out).toContain('endless-recursion');
});

test('a link that leads out of the root is refused, and --root permits more', async () => {
  const project = projectWith({
    'inside/main/START.sh': call('../lib'),
    'inside/main/BACK.sh': BACK,
    'outside/START.sh': 'echo "<result>far</result>"\n',
  });
  symlinkSync(join(project.cwd, 'outside'), join(project.cwd, 'inside', 'lib'));
  const refused = await project.raymond('inside/main', '--json', '--run-id', 'r');
  expect([refused.code, refused.err]).toStrictEqual([3, expect.stringContaining('it leads out of ')]);
  const lint = (...flags: readonly string[]) => project.raymond('lint', 'inside/main', '--level', 'error', ...flags);
  expect([(await lint()).code, (await lint('--root', '.')).code]).toStrictEqual([65, 0]);
  const resumed = await project.raymond('resume', 'r', '--json', '--root', '.');
  expect(JSON.parse(resumed.out).results.main).toBe('back with far');
});

test('calls without end stop at the limit; siblings continue, and nothing is lost', async () => {
  const project = projectWith({
    'main/START.sh': `echo '<fork next="BACK">LOOP</fork>'\n`,
    'main/LOOP.sh': "echo '<call-workflow return=BACK>../lib</call-workflow>'\n",
    'main/BACK.sh': 'echo "<result>on</result>"\n',
    'lib/START.sh': "echo '<call-workflow return=BACK>../main/LOOP</call-workflow>'\n",
    'lib/BACK.sh': BACK,
  });
  const { code, out, err } = await project.raymond('main', '--json', '--run-id', 'r', '--max-depth', '3');
  expect(code).toBe(3);
  expect(JSON.parse(out).results.main).toBe('on');
  expect(err).toContain('it would be nested in 4 workflows, and at most 3 are allowed (`max_depth`)');
  expect(err).toContain('--max-depth');
});

test('a state is read from its own workflow each time, and one that is gone pauses its agent until it is back', async () => {
  const project = projectWith({
    'main/START.sh': call('../lib'),
    'main/BACK.sh': BACK,
    'lib/START.sh': `mv ${'../lib'} ../elsewhere 2>/dev/null || mv lib elsewhere; echo '<goto>NEXT</goto>'\n`,
    'lib/NEXT.sh': 'echo "<result>done</result>"\n',
  });
  const paused = await project.raymond('main', '--json', '--run-id', 'r');
  expect(paused.code).toBe(3);
  expect(JSON.parse(paused.out).agents[0].state).toBe('lib/NEXT.sh');
  renameSync(join(project.cwd, 'elsewhere'), join(project.cwd, 'lib'));
  const resumed = await project.raymond('resume', 'r', '--json');
  expect([resumed.code, JSON.parse(resumed.out).results.main]).toStrictEqual([0, 'back with done']);
});

test('lint names the files of called workflows by their paths, each finding once', async () => {
  const project = projectWith({
    'main/START.md': 'Say <call-workflow return="END.md">../flow.yaml</call-workflow>, or <goto>END.md</goto>.',
    'main/END.md': 'Say <call-workflow return="END.md">../lib</call-workflow>, or <result>done</result>.',
    'lib/START.md': 'Say <goto>NOWHERE.md</goto>.',
    'flow.yaml': 'states:\n  START:\n    prompt: |\n      Say <goto>GONE</goto>.\n',
  });
  const { out, code } = await project.raymond('lint', 'main', 'lib', '--json');
  expect(code).toBe(65);
  const { workflows } = JSON.parse(out);
  const places = workflows.map(({ findings }: { findings: Record<string, string>[] }) =>
    findings.map(({ rule, file, line, column }) => `${rule} ${file}:${line}:${column}`),
  );
  expect(places).toStrictEqual([['missing-state flow.yaml:4:11', 'missing-state lib/START.md:1:5'], []]);
});

test('a graph draws each called workflow in a frame of its own', async () => {
  const project = projectWith({
    'main/START.md': 'Say <call-workflow return="END.md">../lib</call-workflow>.',
    'main/END.md': 'Say <result>done</result>.',
    'lib/START.md': 'Say <result>done</result>.',
  });
  const { out } = await project.raymond('graph', 'main');
  expect(out).toContain('subgraph w0["lib"]\n    s1["lib#47;START.md"]\n  end');
  expect(out).toContain('s1 -.->|"result"| s2');
  const svg = await project.raymond('graph', 'main', '--format', 'svg');
  expect(svg.out).toContain('<title>the workflow lib</title>');
});

test('the policy and the evaluators of a one-file workflow are followed and checked like those of a folder', async () => {
  const flow = (spec: string, other: string): string =>
    `states:\n  START:\n    allowed_transitions:\n      - { tag: call-workflow, target: ${spec}, return: END }\n      - { tag: reset-workflow, target: ${other} }\n    evaluator: { match: TODO, then: { tag: reset-workflow, target: ${other} } }\n    prompt: Go.\n  END: { sh: 'echo "<result>x</result>"' }\n`;
  const project = projectWith({
    'lib/START.sh': 'echo "<result>x</result>"\n',
    'good.yaml': flow('lib', 'lib/START'),
    'bad.yaml': flow('../gone', 'lib/NOWHERE.sh'),
  });
  const { out } = await project.raymond('graph', 'good.yaml');
  expect(out).not.toContain('missing');
  expect(out).toContain('lib#47;START.sh');
  const { code, err } = await project.raymond('run', 'bad.yaml');
  expect(code).toBe(65);
  expect(err).toContain('bad.yaml:4:39: `target`: there is no ../gone');
  expect(err).toContain('bad.yaml:5:40: `target`: lib/NOWHERE.sh: there is no state `NOWHERE.sh` in lib');
  expect(err).toContain('bad.yaml:6:68: `target`: lib/NOWHERE.sh: there is no state `NOWHERE.sh` in lib');
});

test('a test follows calls within the root that it is given, and a recording those of its run', async () => {
  const project = projectWith({
    'inner/main/START.sh': call('../../lib'),
    'inner/main/BACK.sh': BACK,
    'inner/main/a.test.yaml': 'expect: { path: [START, lib/START, BACK], result: back with far }\n',
    'lib/START.sh': 'echo "<result>far</result>"\n',
  });
  const without = await project.raymond('test', 'inner/main');
  expect(without).toMatchObject({ code: 65 });
  expect(without.out).toContain('`lib` is not one of the workflows that are called');
  expect(await project.raymond('test', 'inner/main', '--root', '.')).toMatchObject({ code: 0 });
  expect(await project.raymond('inner/main', '--root', '.', '--quiet')).toMatchObject({ code: 0 });
  const recorded = await project.raymond('test', '--record', 'last');
  expect(recorded).toMatchObject({ code: 0 });
  expect(recorded.out).toContain('A test of it goes as the recorded run did.');
});

test('a guard of a called workflow leads to a state of its own, and the run is recorded and replayed', async () => {
  const project = projectWith({
    'main/START.sh': call('../lib', ' input="seven"'),
    'main/FIX.sh': 'echo "<result>the wrong one</result>"\n',
    'main/BACK.sh': BACK,
    'lib/START.sh': `#!/bin/bash\n# ---\n# retry: 1\n# on: { error: FIX }\n# ---\n[ -e ok ] && echo '<result>x</result>' || exit 4\n`,
    'lib/FIX.sh': 'echo "<result>$RAYMOND_INPUT: ${RAYMOND_ERROR%%(*}</result>"\n',
  });
  const { result, steps } = await runMain(project);
  expect(result).toBe('back with seven: lib/START.sh: the script ended with exit code 4');
  expect(steps).toContain('main lib/START.sh lib/FIX.sh');
  const recorded = await project.raymond('test', '--record', 'last');
  expect(recorded.out).toContain('A test of it goes as the recorded run did.');
});
