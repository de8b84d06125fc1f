import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { composeRun } from '../../src/app/start.ts';
import { lintWorkflow } from '../../src/app/workflows/lint-workflow.ts';
import type { Options } from '../../src/core/options/options.ts';
import { RaymondError } from '../../src/errors.ts';
import { RULES } from '../../src/lint/rules/index.ts';
import { PRODUCTION } from '../../src/wiring/run-context.ts';
import { InvalidWorkflow } from '../../src/workflow/invalid-workflow.ts';
import { temporaryFolders } from '../workflow/temp.ts';
import { type BrokenWorkflow, brokenWorkflow } from './broken-workflow.ts';

const folder = temporaryFolders();

/** The error with which a run is refused before it starts; null if it would start. */
async function refusalOf(path: string, cwd: string, options: Partial<Options> = {}): Promise<RaymondError | null> {
  try {
    await composeRun(path, { cwd, env: {}, input: 'x', options }, PRODUCTION);
    return null;
  } catch (error) {
    if (error instanceof RaymondError) return error;
    throw error;
  }
}

function write(cwd: string, { files }: BrokenWorkflow): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), content);
  }
}

const ALWAYS = new Set<string>(RULES.flatMap(({ id, blocksStart }) => (blocksStart === 'always' ? id : [])));

test('lint reports an error that prevents a run if and only if the run is refused, and at the same places', async () => {
  const seen = { refused: 0, started: 0 };
  const base = folder();
  await fc.assert(
    fc.asyncProperty(brokenWorkflow, async (workflow) => {
      const cwd = join(base, String(seen.refused + seen.started));
      write(cwd, workflow);
      const refusal = await refusalOf(workflow.path, cwd);
      const { findings } = await lintWorkflow(workflow.path, { cwd, env: {} });
      rmSync(cwd, { recursive: true });
      const preventing = findings.filter(({ preventsRun }) => preventsRun);
      expect(preventing.length > 0, refusal?.message ?? JSON.stringify(preventing)).toBe(refusal !== null);
      for (const { rule, preventsRun } of findings)
        if (ALWAYS.has(rule)) expect([rule, preventsRun]).toStrictEqual([rule, true]);
      const places = new Set(preventing.map(({ file, line, column }) => `${resolve(cwd, file)}:${line}:${column}`));
      for (const { level, file, line, column } of refusal instanceof InvalidWorkflow ? refusal.findings : [])
        if (level === 'error') expect([...places]).toContain(`${resolve(cwd, file)}:${line}:${column}`);
      seen[refusal === null ? 'started' : 'refused'] += 1;
    }),
    { numRuns: 150 },
  );
  expect(Math.min(seen.refused, seen.started)).toBeGreaterThan(20);
});

test.each([
  ['a workspace with a working directory', 'workspace: { git: ../repo }\nworking_directory: .', 'exclude each other'],
  ['a working directory that is not there', 'working_directory: gone', 'is not a folder here: '],
])('lint reports %s, as a run does', async (_, manifest, message) => {
  const cwd = folder({ 'wf/START.md': 'Say <result>x</result>.', 'wf/workflow.yaml': manifest });
  const refusal = await refusalOf('wf', cwd);
  const { findings } = await lintWorkflow('wf', { cwd, env: {} });
  expect(refusal?.message).toContain(message);
  expect(findings).toMatchObject([
    { rule: 'cannot-start', level: 'error', preventsRun: true, file: relative(cwd, join(cwd, 'wf')) },
  ]);
  expect(findings[0]?.message).toBe(refusal?.message);
});

test('lint reports workflows that are nested too deeply by the config, and people that a run may not ask', async () => {
  const call = '---\nallowed_transitions: [{ tag: call-workflow, target: ../lib, return: START.md }]\n---\nGo.';
  const cwd = folder({
    '.raymond/config.toml': '[raymond]\nmax_depth = 1\non_ask = "fail"\n',
    'wf/START.md': call,
    'wf/workflow.yaml': 'requires_human_input: yes\n',
    'lib/START.md': call.replaceAll('../lib', '../deep'),
    'deep/START.md': 'Say <result>x</result>.',
  });
  const { findings } = await lintWorkflow('wf', { cwd, env: {} });
  expect(findings.filter(({ preventsRun }) => preventsRun).map(({ rule, line }) => [rule, line])).toStrictEqual([
    ['cannot-start', 2],
    ['cannot-start', 0],
  ]);
});

test('a state that only a workflow beside it enters is not unreachable, nor are the states behind it', async () => {
  const cwd = folder({
    'a/START.md': 'Say <result>x</result>.',
    'a/PROCESS.md': 'Say <goto>LAST.md</goto>.',
    'a/LAST.md': 'Say <result>x</result>.',
    'a/NOBODY.md': 'Say <result>x</result>.',
    'b/START.md': 'Say <call-workflow return="BACK.md">../a/PROCESS</call-workflow>.',
    'b/BACK.md': 'Say <result>x</result>.',
  });
  const { findings } = await lintWorkflow('a', { cwd, env: {} });
  expect(findings.map(({ rule, file }) => [rule, file])).toStrictEqual([['unreachable-state', 'a/NOBODY.md']]);
});

test.each([
  ['a', 'yes', 'auto', true],
  ['b', 'auto', 'auto', false],
  ['c', 'no', 'auto', false],
])(
  '%s: a workflow that calls one with `requires_human_input: %s` needs people with %s: %s',
  async (_, called, own, needs) => {
    const cwd = folder({
      '.raymond/config.toml': '[raymond]\non_ask = "fail"\n',
      'wf/START.md': '---\nallowed_transitions: [{ tag: call-workflow, target: ../lib, return: START.md }]\n---\nGo.',
      'wf/workflow.yaml': `requires_human_input: ${own}\n`,
      'lib/START.md': 'Say <result>x</result>.',
      'lib/workflow.yaml': `requires_human_input: ${called}\n`,
    });
    const { findings } = await lintWorkflow('wf', { cwd, env: {} });
    expect(findings.some(({ preventsRun }) => preventsRun)).toBe(needs);
    expect((await refusalOf('wf', cwd, { onAsk: 'fail' })) !== null).toBe(needs);
  },
);

test.each([
  ['choices: Yes', 'needs at least two labels'],
  ['choices: "Yes|No|yes"', 'has the label yes twice'],
  ['choices: "1|2|3|4|5|6|7|8|9|10"', '9 are the most'],
  ['choices_many: perhaps', 'can be "true" or "false"'],
  ['upload_bucket: maybe', 'can be "true" or "false"'],
  ['upload_slots: ""', 'names no file'],
  ['upload_slots: "../a"', 'cannot be the name of a file'],
  ['upload_slots: "a,b", upload_max_count: 1', '`upload_slots` has 2 files'],
  ['upload_bucket: false, upload_mime: image/png', 'needs `upload_bucket="true"`'],
  ['upload_max_size: huge', 'must be a number such as'],
  ['display_files: ../secret', 'is not within the task folder'],
])('a policy whose question has `%s` is refused, as the question would be', async (attributes, message) => {
  const cwd = folder({
    'wf/START.md': `---\nallowed_transitions: [{ tag: ask, next: START.md, ${attributes} }, { tag: result }]\n---\nSay <ask next="START.md">?</ask> or <result>x</result>.`,
  });
  expect((await refusalOf('wf', cwd))?.message).toContain(message);
  const { findings } = await lintWorkflow('wf', { cwd, env: {} });
  expect(findings.filter(({ preventsRun }) => preventsRun)).toMatchObject([
    { message: expect.stringContaining(message), file: 'wf/START.md', line: 2 },
  ]);
});
