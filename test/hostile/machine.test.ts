import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RaymondError } from '../../src/errors.ts';
import { play, RESULT, says } from './play.ts';
import { describe, expect, expectStuck, type Rig, read, test } from './rig.ts';

/** Why a run was refused; nothing may have been made by then. */
async function refusal(rig: Rig, claude: string | null, path?: string): Promise<RaymondError> {
  const env = { ...rig.env, ...(path !== undefined && { PATH: path }) };
  const error = await rig.play({ 'START.md': play(RESULT) }, { claude }, { env }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(RaymondError);
  expect(existsSync(join(rig.cwd, '.raymond'))).toBe(false);
  expect(existsSync(join(rig.home, 'calls.jsonl'))).toBe(false);
  return error as RaymondError;
}

describe.concurrent('nothing is started, and the user is told what to do, if Claude Code', () => {
  test('is not on the PATH', async ({ rig }) => {
    expect(await refusal(rig, null, '/nowhere')).toMatchObject({
      message: 'Claude Code was not found: there is no `claude` on the PATH.',
      hint: expect.stringMatching(/^Install it .* or name it with --claude PATH\.$/),
      exitCode: 64,
    });
  });

  test('is not where it should be', async ({ rig }) => {
    expect(await refusal(rig, '/nowhere/claude')).toMatchObject({
      message: 'There is no Claude Code at /nowhere/claude.',
      hint: 'Check the path given with --claude.',
      exitCode: 64,
    });
  });

  test('may not be executed', async ({ rig }) => {
    chmodSync(rig.claude, 0o644);
    const { message, hint, exitCode } = await refusal(rig, rig.claude);
    expect([message, hint, exitCode]).toStrictEqual([
      `${rig.claude} cannot be executed.`,
      'Check the path given with --claude.',
      64,
    ]);
  });

  test.for([
    ['is no program', 'neither a script nor a binary\0\u0001'],
    ['has an interpreter that is gone', '#!/nowhere/node\n'],
    ['does not even start', '#!/bin/sh\necho "cannot find module yoga.wasm" >&2\nexit 1\n'],
    ['is something else', '#!/bin/sh\necho "claude: the horse of the emperor"\n'],
    ['is too old', '#!/bin/sh\necho "2.1.196 (Claude Code)"\n'],
  ] as const)('%s', async ([, program], { rig }) => {
    writeFileSync(rig.claude, program);
    const { message, hint, exitCode } = await refusal(rig, rig.claude);
    expect([message, hint]).toMatchSnapshot();
    expect(exitCode).toBe(64);
  });
});

describe.concurrent('under our feet', () => {
  const remove = (path: string) => [...says(RESULT).slice(0, 2), { remove: path }, ...says(RESULT).slice(2)];

  test('the folders of the turns go: ', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play(remove(join(rig.cwd, '.raymond', 'runs'))) }, { retries: 0 });
    console.log(played.run.status, read(played));
  });
  test('all of .raymond goes', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play(remove(join(rig.cwd, '.raymond'))) }, { retries: 0 });
    console.log(played.run.status, read(played));
  });
  test('the turn folder goes', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play([{ removeTurn: true }, ...says(RESULT)]) }, { retries: 0 });
    console.log(played.run.status, read(played));
  });
  test('cwd goes', async ({ rig }) => {
    const played = await rig.play({ 'START.md': play(remove(rig.cwd)) }, { retries: 0 });
    console.log(played.run.status, read(played));
  });
});
