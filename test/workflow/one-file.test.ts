import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lintWorkflow } from '../../src/app/workflows/lint-workflow.ts';
import { InvalidWorkflow } from '../../src/workflow/invalid-workflow.ts';
import { openWorkflow } from '../../src/workflow/workflow.ts';
import { temporaryFolders } from './temp.ts';
import { buildZip } from './zip-builder.ts';

const folder = temporaryFolders();

const FLOW = `name: Flow
default_budget: 2
vars: { lang: English }
states:
  START:
    model: sonnet
    allowed_transitions:
      - { tag: goto, target: CHECK.md }
    prompt: |
      Write it in {{lang}}.

      Then <goto>CHECK</goto>.
  CHECK:
    timeout: 10m
    sh: |
      #!/bin/bash
      echo "<result>ok</result>"
    bat: |
      @echo ^<result^>ok^</result^>
  1_OTHER:
    prompt: "Say it."
`;

const written = (text: string, name = 'flow.yaml') => join(folder({ [name]: text }), name);

const findingsOf = async (text: string): Promise<readonly string[]> => {
  const error = await openWorkflow(written(text), 'unix').catch((thrown: unknown) => thrown);
  if (!(error instanceof InvalidWorkflow)) throw new Error('it was opened', { cause: error });
  return error.findings.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
};

describe('a workflow in one file', () => {
  test.each(['flow.yaml', 'flow.yml'])('is opened like a folder with these files: %s', async (name) => {
    const path = written(FLOW, name);
    const workflow = await openWorkflow(path, 'unix');
    expect([workflow.name, workflow.path, workflow.entry, workflow.findings]).toStrictEqual([
      'flow',
      path,
      'START.md',
      [],
    ]);
    expect([workflow.manifest.name, workflow.manifest.budgetMicros]).toStrictEqual(['Flow', 2_000_000]);
    expect(await workflow.scope()).toStrictEqual({
      files: ['1_OTHER.md', 'CHECK.bat', 'CHECK.sh', 'START.md'],
      platform: 'unix',
      anyExtension: true,
    });
    const start = await workflow.state('START');
    expect([start.kind, start.model, start.text]).toStrictEqual([
      'prompt',
      'sonnet',
      'Write it in {{lang}}.\n\nThen <goto>CHECK</goto>.\n',
    ]);
    const check = await workflow.state('CHECK.md');
    expect([check.file, check.kind, check.timeoutMs, check.text]).toStrictEqual([
      'CHECK.sh',
      'script',
      600_000,
      '#!/bin/bash\necho "<result>ok</result>"\n',
    ]);
  });

  test('reads the frontmatter in the comments of a script; the keys beside it win', async () => {
    const script = '#!/bin/bash\n      # ---\n      # max_visits: 2\n      # timeout: 5m\n      # ---\n      echo hi';
    const path = written(`states:\n  START:\n    timeout: 1m\n    sh: |\n      ${script}\n`);
    const { timeoutMs, rules } = await (await openWorkflow(path, 'unix')).state('START');
    expect([timeoutMs, rules.maxVisits]).toStrictEqual([60_000, 2]);
  });

  test.each([
    [
      '',
      'flow.yaml:1:1: a workflow in one file is made of keys and values, with `states:` among them, but it is empty',
    ],
    [
      '- a',
      'flow.yaml:1:1: a workflow in one file is made of keys and values, with `states:` among them, but it is a list',
    ],
    ['name: x', 'flow.yaml:1:1: there are no `states:` in it: a workflow in one file has its states there'],
    ['states:', 'flow.yaml:1:1: `states` must have states by their names, not nothing'],
    ['states: [a]', 'flow.yaml:1:9: `states` must have states by their names, not a list'],
    ['START:\n  prompt: x', 'flow.yaml:1:1: `START` is a state at the top level: indent it, under `states:`'],
    [
      'states:\n  START:\n    prompt: x\n    sh: y',
      'flow.yaml:4:5: the state `START` has a prompt and a script (`sh`): keep one of them',
    ],
    [
      'states:\n  START:\n    model: opus',
      'flow.yaml:2:3: the state `START` has neither a `prompt` nor a script (`sh`, `ps1`, `bat`)',
    ],
    ...['sh: null', 'sh:', 'prompt: ~'].map((body) => [
      `states:\n  START:\n    ${body}`,
      'flow.yaml:2:3: the state `START` has neither a `prompt` nor a script (`sh`, `ps1`, `bat`)',
    ]),
    [
      'states:\n  START: go',
      'flow.yaml:2:10: the state `START` must have a `prompt` or a script (`sh`), not the text `go`',
    ],
    ['states:\n  START:\n    prompt: [a]', 'flow.yaml:3:13: `prompt` of the state `START` must be a text, not a list'],
    [
      'states:\n  a/b:\n    prompt: x',
      'flow.yaml:2:3: `a/b` cannot be the name of a state: use a plain word, as for a file',
    ],
    ['states:\n  A: { prompt: x }\n  A.md: { prompt: y }', 'flow.yaml:3:3: `A.md` is given twice: on line 2 and here'],
  ])('that is wrong has one sentence with line and column: %j', async (text, expected) => {
    expect((await findingsOf(text)).join('\n')).toContain(expected);
  });

  test('without a start says what to add, and a state that is not there is named where it is written', async () => {
    expect(await findingsOf('states:\n  BEGIN: { prompt: x }\n')).toStrictEqual([
      'flow.yaml:0:0: there is no state to start in: add a state START or 1_START',
    ]);
    const policy = 'states:\n  START:\n    allowed_transitions:\n      - { tag: goto, target: GONE }\n    prompt: x\n';
    expect(await findingsOf(policy)).toStrictEqual([
      'flow.yaml:4:30: `target`: there is no state `GONE` in this workflow',
    ]);
  });

  test('names the folder of a manifest that somebody takes for a workflow', async () => {
    const path = written('name: x\n', 'workflow.yaml');
    await expect(openWorkflow(path, 'unix')).rejects.toThrow('it is the manifest of its folder, so name the folder');
  });

  test('is linted with the positions in its file, in literal text, in quotes and in scripts', async () => {
    const path = written(`states:
  START:
    modle: opus
    prompt: |

      Look.
        Then <goto>GONE</goto>.
  QUOTED:
    prompt: "Say <goto>NOWHERE</goto>."
  FOLDED:
    prompt: >
      Say
      <goto>LOST</goto>.
  SCRIPT:
    sh: |
      if true; then
        echo "<goto>AWAY</goto>"
`);
    const { findings } = await lintWorkflow(path, { platform: 'unix' });
    const at = (rule: string) =>
      findings
        .filter((finding) => finding.rule === rule)
        .map(({ file, line, column }) => `${file.split('/').at(-1)}:${line}:${column}`);
    expect(at('key-without-effect')).toStrictEqual(['flow.yaml:3:5']);
    expect(at('missing-state')).toContain('flow.yaml:7:14');
    expect(at('bash-syntax').map((each) => each.split(':')[1])).toStrictEqual(['18']);
  });
});

describe('a path may name the state to start in', () => {
  const STATES = { 'START.md': 'Go.', 'PLAN.md': 'Plan.' };
  const zip = buildZip(Object.entries(STATES).map(([name, data]) => ({ name, data })));

  test.each([
    ['wf/PLAN', 'PLAN.md'],
    ['wf/PLAN.md', 'PLAN.md'],
    ['a.zip/PLAN', 'PLAN.md'],
    ['a.zip/PLAN.md', 'PLAN.md'],
    ['flow.yaml/CHECK', 'CHECK.sh'],
    ['flow.yaml/CHECK.md', 'CHECK.sh'],
  ])('%s', async (path, entry) => {
    const root = folder({ 'wf/START.md': 'Go.', 'wf/PLAN.md': 'Plan.', 'a.zip': zip, 'flow.yaml': FLOW });
    const workflow = await openWorkflow(join(root, path), 'unix');
    expect([workflow.entry, workflow.name, workflow.path]).toStrictEqual([
      entry,
      entry.split('.')[0],
      join(root, path),
    ]);
  });

  test.each(['wf/PLAN', 'wf/PLAN.md'])('%s, beside a plain file of that name', async (path) => {
    const root = folder({ 'wf/START.md': 'Go.', 'wf/PLAN.md': 'Plan.', 'wf/PLAN': 'notes' });
    expect((await openWorkflow(join(root, path), 'unix')).entry).toBe('PLAN.md');
  });

  test('in another workflow, beside a plain file of that name', async () => {
    const call = '---\nallowed_transitions: [{ tag: reset-workflow, target: ../o/PLAN }]\n---\nGo.';
    const root = folder({ 'wf/START.md': call, 'o/PLAN.sh': 'echo', 'o/PLAN': 'notes' });
    const workflow = await openWorkflow(join(root, 'wf'), 'unix');
    expect(await workflow.resolveSpec('START.md', '../o/PLAN')).toMatchObject({ kind: 'found', state: 'o/PLAN.sh' });
  });

  test.each([
    ['a.zip/PLAM', 'there is no state `PLAM` in this workflow (did you mean PLAN?)'],
    ['flow.yaml/CHEK', 'there is no state `CHEK` in this workflow (did you mean CHECK?)'],
    ['wf/PLAM', 'there is no'],
  ])('that is not there is refused: %s', async (path, message) => {
    const root = folder({ 'wf/START.md': 'Go.', 'wf/PLAN.md': 'Plan.', 'a.zip': zip, 'flow.yaml': FLOW });
    await expect(openWorkflow(join(root, path), 'unix')).rejects.toThrow(message);
  });

  test('a zip whose name holds 64 hex digits must have that SHA-256', async () => {
    const hash = createHash('sha256').update(zip).digest('hex');
    const other = '0'.repeat(64);
    const root = folder({ [`wf-${hash.toUpperCase()}.zip`]: zip, [`wf-${other}.zip`]: zip });
    expect((await openWorkflow(join(root, `wf-${hash.toUpperCase()}.zip`), 'unix')).entry).toBe('START.md');
    await expect(openWorkflow(join(root, `wf-${other}.zip`), 'unix')).rejects.toThrow(
      `its name states the SHA-256 of another file; its own is ${hash}`,
    );
  });

  test.each([
    ['a word of hex digits before it', (hash: string) => `bead${hash}.zip`],
    ['65 hex digits', (hash: string) => `wf-${hash}0.zip`],
    ['two hashes', (hash: string) => `${hash}-${hash}.zip`],
  ])('a zip whose name may hold a hash in several ways is refused: %s', async (_, nameOf) => {
    const name = nameOf(createHash('sha256').update(zip).digest('hex'));
    await expect(openWorkflow(join(folder({ [name]: zip }), name), 'unix')).rejects.toThrow(
      'its name must hold one SHA-256 of 64 hex digits, set off by another character such as `-`, or none: rename it',
    );
  });
});
