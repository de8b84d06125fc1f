import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RaymondError } from '../../src/errors.ts';
import { answersWith, fakePrompt, RESULT, type Step } from './fake-prompt.ts';
import { describe, expect, logOf, type Rig, resultOf, test } from './rig.ts';

/** Why a run was refused; nothing may have been made by then. */
async function errorOf(rig: Rig, claude: string | null, path?: string): Promise<RaymondError> {
  const env = { ...rig.env, ...(path !== undefined && { PATH: path }) };
  const error = await raymondErrorOf(rig.run({ 'START.md': fakePrompt(RESULT) }, { claude }, { env }));
  expect(existsSync(join(rig.cwd, '.raymond'))).toBe(false);
  expect(existsSync(join(rig.home, 'calls.jsonl'))).toBe(false);
  return error;
}

describe.concurrent('nothing is started, and a hint says what to do, if Claude Code', () => {
  test('is not on the PATH', async ({ rig }) => {
    expect(await errorOf(rig, null, '/nowhere')).toMatchObject({
      message: 'Claude Code was not found: there is no `claude` on the PATH.',
      hint: expect.stringMatching(/^Install it .* or name it with --claude PATH\.$/),
      exitCode: 64,
    });
  });

  test('is not at the given path', async ({ rig }) => {
    expect(await errorOf(rig, '/nowhere/claude')).toMatchObject({
      message: 'There is no Claude Code at /nowhere/claude.',
      hint: 'Check the path given with --claude.',
      exitCode: 64,
    });
  });

  test.for([
    ['is no program', 0o755, 'neither a script nor a binary\0\u0001', /--version failed: /, /terminal/],
    ['may not be executed', 0o644, '#!/bin/sh\n', /claude\.mjs is not a program that can be run\.$/, /--claude/],
    ['has no interpreter', 0o755, '#!/nowhere/node\n', /--version failed: .*ENOENT/, /terminal/],
    [
      'does not even start',
      0o755,
      '#!/bin/sh\necho "no yoga.wasm" >&2\nexit 1\n',
      /failed: no yoga\.wasm$/,
      /terminal/,
    ],
    [
      'is something else',
      0o755,
      '#!/bin/sh\necho "a horse"\n',
      /not seem to be Claude Code: .*"a horse"/,
      /Install it/,
    ],
    [
      'is too old',
      0o755,
      '#!/bin/sh\necho "2.1.196 (Claude Code)"\n',
      /is Claude Code 2\.1\.196; Raymond needs/,
      /Update it/,
    ],
  ] as const)('%s', async ([, mode, program, saying, advice], { rig }) => {
    writeFileSync(rig.claude, program);
    chmodSync(rig.claude, mode);
    const { message, hint, exitCode } = await errorOf(rig, rig.claude);
    expect(message).toMatch(saying);
    expect(hint).toMatch(advice);
    expect(exitCode).toBe(64);
  });
});

describe.concurrent('somebody deletes', () => {
  test('the folder of a running turn: an answer that was read counts, else the turn is retried', async ({ rig }) => {
    const [init, ...rest] = answersWith(RESULT);
    const finished = await rig.run({ 'START.md': fakePrompt([init as Step, { removeTurn: true }, ...rest], RESULT) });
    expect(resultOf(finished)).toBe('done');
  });

  test('the whole .raymond folder: the run ends with a message about it', async ({ rig }) => {
    const [init, ...rest] = answersWith(RESULT);
    const clear = { remove: join(rig.cwd, '.raymond') };
    const error = await raymondErrorOf(
      rig.run({ 'START.md': fakePrompt([init as Step, clear, ...rest]) }, { retries: 0 }),
    );
    expect(error).toMatchObject({
      message: expect.stringMatching(/\.json cannot be written: the folder it belongs in is gone\.$/),
      hint: expect.stringMatching(/^Put the folder back, then try again\./),
    });
  });

  test('the working directory of an agent: the agent is paused', async ({ rig }) => {
    const sub = join(rig.cwd, 'sub');
    mkdirSync(sub);
    const states = { 'START.md': fakePrompt('<reset cd="sub">NEXT.md</reset>'), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(
      states,
      {},
      { onEvent: ({ kind }) => kind === 'transition' && rmSync(sub, { recursive: true }) },
    );
    expect([finished.run.status, finished.main.state]).toStrictEqual(['paused', 'NEXT.md']);
    expect(logOf(finished)).toMatch(/paused: the working directory .*sub does not exist/);
    mkdirSync(sub);
    expect(resultOf(await rig.resume(finished))).toBe('done');
  });
});

async function raymondErrorOf(play: Promise<unknown>): Promise<RaymondError> {
  const error = await play.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RaymondError);
  return error as RaymondError;
}
