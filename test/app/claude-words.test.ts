import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { refuseSkippingAsRoot } from '../../src/app/config/run-settings.ts';
import { resumeRun } from '../../src/app/resume.ts';
import { openWorkflow, runWorkflow } from '../../src/app/start.ts';
import { DEFAULT_OPTIONS, type Options } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import { newCliProject } from '../cli/cli-project.ts';

function newWorkflow(files: Readonly<Record<string, string>>): string {
  const { cwd } = newCliProject();
  mkdirSync(join(cwd, 'wf'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, 'wf', name), text);
  return cwd;
}

const SCRIPT = { 'START.sh': 'echo "<result>r</result>"' };

describe('a program that starts a run', () => {
  test('is told of a word that Claude Code does not know, and nothing is started', async () => {
    const cwd = newWorkflow(SCRIPT);
    const started = runWorkflow('wf', { cwd, options: { effort: 'hihg' } });
    await expect(started).rejects.toThrow('the effort `hihg` is unknown (did you mean high?)');
    expect(existsSync(join(cwd, '.raymond'))).toBe(false);
  });

  test('gets a warning about a model that only a gateway may know', async () => {
    const cwd = newWorkflow(SCRIPT);
    const warnings: string[] = [];
    const observe = (event: Event): unknown => event.kind === 'warning' && warnings.push(event.message);
    await (await runWorkflow('wf', { cwd, options: { model: 'gpt-5' }, observe })).finished;
    expect(warnings).toStrictEqual(['the model `gpt-5` is unknown']);
  });

  test('is told when it resumes a run, too', async () => {
    const cwd = newWorkflow(SCRIPT);
    await (await runWorkflow('wf', { cwd })).finished;
    const resumed = resumeRun('last', { cwd, options: { permissionMode: 'acceptedits' } });
    await expect(resumed).rejects.toThrow('did you mean acceptEdits?');
  });
});

describe('for root', () => {
  const check = async (
    files: Readonly<Record<string, string>>,
    options: Partial<Options>,
    env: NodeJS.ProcessEnv = {},
    uid: number | null = 0,
  ): Promise<void> => {
    const workflow = await openWorkflow(join(newWorkflow(files), 'wf'), 'unix');
    refuseSkippingAsRoot(workflow, { ...DEFAULT_OPTIONS, ...options }, env, uid);
  };
  const PROMPT = { 'START.md': 'Do it.' };
  const BYPASS = {
    'START.sh': 'echo "<goto>A</goto>"',
    'A.md': '---\npermission_mode: bypassPermissions\n---\nDo it.',
  };

  test.each<[string, Readonly<Record<string, string>>, Partial<Options>, string]>([
    ['with the flag', PROMPT, { skipPermissions: true }, 'START.md'],
    ['with the mode', PROMPT, { permissionMode: 'bypassPermissions' }, 'START.md'],
    ['in a state', BYPASS, {}, 'A.md'],
  ])('skipping permissions %s is refused before the run', async (_, files, options, file) => {
    await expect(check(files, options)).rejects.toThrow(
      `Claude Code does not let root skip permissions, as ${file} would`,
    );
  });

  test.each<[string, Parameters<typeof check>]>([
    ['in a sandbox', [PROMPT, { skipPermissions: true }, { IS_SANDBOX: '1' }]],
    ['with canned answers', [PROMPT, { skipPermissions: true, agent: 'replay:/a.yaml' }]],
    ['without prompts', [SCRIPT, { skipPermissions: true }]],
    ['for other users', [PROMPT, { skipPermissions: true }, {}, 1000]],
    ['without skipping', [PROMPT, {}]],
  ])('nothing is refused %s', async (_, call) => {
    await expect(check(...call)).resolves.toBeUndefined();
  });
});
