import { describe, expect, test } from 'vitest';
import { EMPTY_MANIFEST } from '../../src/workflow/manifest.ts';
import { openWorkflow } from '../../src/workflow/workflow.ts';
import { temporaryFolders } from './temp.ts';
import { buildZip } from './zip-builder.ts';

const folder = temporaryFolders();

const ALL = `id: review
name: Nightly review
description: Looks at it.
input: { mode: required, label: a branch, description: any }
default_budget: 2.5
working_directory: sub
environment: { A: "\${B}", N: 1.50 }
vars: { lang: English, n: 3 }
sandbox: true
hosts: [registry.npmjs.org, 'localhost:5432']
`;

const opened = (manifest: string) => openWorkflow(folder({ 'START.md': 'Go.', 'workflow.yaml': manifest }), 'unix');

describe('a manifest', () => {
  test('is read with all of its keys, in a folder and in a zip', async () => {
    const files = { 'START.md': 'Go.', 'workflow.yaml': ALL };
    const zip = `${folder({ 'a.zip': buildZip(Object.entries(files).map(([name, data]) => ({ name, data }))) })}/a.zip`;
    for (const workflow of [await openWorkflow(folder(files), 'unix'), await openWorkflow(zip, 'unix')]) {
      expect([workflow.name, workflow.findings]).toStrictEqual(['review', []]);
      expect(workflow.source.variables).toStrictEqual(['lang', 'n']);
      expect(workflow.manifest).toStrictEqual({
        workspace: null,
        id: 'review',
        name: 'Nightly review',
        description: 'Looks at it.',
        input: { mode: 'required', label: 'a branch', description: 'any' },
        budgetMicros: 2_500_000,
        workingDirectory: 'sub',
        environment: { A: '${B}', N: '1.50' },
        variables: { lang: 'English', n: '3' },
        requiresHumanInput: false,
        sandbox: true,
        hosts: ['registry.npmjs.org', 'localhost:5432'],
      });
    }
  });

  test.each(['', '# nothing yet\n', 'name:\nvars:\n'])('may be empty: %j', async (text) => {
    expect((await opened(text)).manifest).toStrictEqual(EMPTY_MANIFEST);
  });

  test.each([
    ['true', true],
    ['"true"', true],
    ['yes', true],
    ['False', false],
    ['"no"', false],
    ['auto', 'auto'],
    ['"auto"', 'auto'],
  ])('says whether it needs people: requires_human_input: %s', async (written, expected) => {
    const { manifest, findings } = await opened(`requires_human_input: ${written}`);
    expect([manifest.requiresHumanInput, findings]).toStrictEqual([expected, []]);
  });

  test.each(['backend: claude', 'backend: Claude', 'backend:', 'backend: ""', 'backend: { name: claude }'])(
    'may name the backend that there is: %s',
    async (text) => {
      expect(await opened(text)).toMatchObject({ manifest: EMPTY_MANIFEST, findings: [] });
    },
  );

  test.each([
    ['budgett: 3', '1:1: the key `budgett` is unknown and has no effect'],
    ['default_budgt: 3', '1:1: the key `default_budgt` is unknown and has no effect (did you mean default_budget?)'],
    ['input: { lable: x }', '1:10: the key `lable` is unknown and has no effect (did you mean label?)'],
  ])('warns of what has no effect: %s', async (text, expected) => {
    const [finding, ...others] = (await opened(text)).findings;
    expect(others).toStrictEqual([]);
    expect(finding?.level).toBe('warning');
    expect(`${finding?.line}:${finding?.column}: ${finding?.message}`).toBe(expected);
  });

  test.each([
    ['- a', '1:1: a manifest is made of keys and values, such as `default_budget: 5`, not a list'],
    ['id: [a', '1:5: this is not valid YAML'],
    ['default_budget: much', '1:17: `default_budget` must be a number of dollars, 0 for no limit, not the text `much`'],
    ['default_budget: -1', '1:17: `default_budget` must be a number of dollars, 0 for no limit, not the number `-1`'],
    ['input: required', '1:8: `input` must be a mapping with `mode`, `label` and `description`'],
    ['input: { mode: never }', '1:16: `mode` must be required, optional or none, not the text `never`'],
    ['vars: [a]', '1:7: `vars` must be a mapping of names to texts, not a list'],
    ['vars: { PATH: x }', '1:9: `vars`: `PATH` cannot be a variable: scripts would take it for something else'],
    ['vars: { a: [1] }', '1:12: `a` must be a text, not a list'],
    ['environment: { A-B: x }', '1:16: `environment`: `A-B` cannot be a variable of the environment'],
    [
      'environment: { RAYMOND_X: x }',
      "1:16: `environment`: `RAYMOND_X` cannot be set here: names with RAYMOND_ are Raymond's own",
    ],
    ['states: { A: { prompt: x } }', '1:1: `states` makes this a workflow of its own'],
    ['requires_human_input: 1', '1:23: `requires_human_input` must be true, false or auto, not the number `1`'],
    [
      'backend: pi',
      '1:10: `backend`: Raymond has no backend `pi`, only `claude`: remove the key to run on Claude Code',
    ],
    ['backend: { name: pi, options: { thinking: high } }', '1:18: `backend`: Raymond has no backend `pi`'],
    ['backend: [claude]', '1:10: `backend` must be the name of a backend, not a list'],
  ])('with a mistake keeps the workflow from starting: %s', async (text, expected) => {
    await expect(opened(text)).rejects.toThrow(`workflow.yaml:${expected}`);
  });
});
