import { readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RaymondError } from '../../../src/errors.ts';
import { findClaude, isAtLeast, parseClaudeVersion } from '../../../src/turns/claude/find-claude.ts';

test.each([
  ['2.1.325 (Claude Code)', [2, 1, 325]],
  ['2.1.197', [2, 1, 197]],
  ['v3.0.0-beta.1', [3, 0, 0]],
  ['claude 10.20.30', [10, 20, 30]],
  ['2.1', null],
  ['', null],
])('the version in %j is %j', (text, version) => {
  expect(parseClaudeVersion(text)).toStrictEqual(version);
});

test.each([
  [[2, 1, 197], [2, 1, 197], true],
  [[2, 1, 1000], [2, 1, 197], true],
  [[2, 2, 0], [2, 1, 197], true],
  [[2, 0, 999], [2, 1, 197], false],
  [[1, 9, 999], [2, 1, 197], false],
] as const)('%j is at least %j: %s', (version, other, is) => {
  expect(isAtLeast(version, other)).toBe(is);
});

describe.skipIf(process.platform === 'win32')('Claude Code (not on Windows)', () => {
  let root: string;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'raymond-version-'));
  });
  afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));

  async function program(folder: string, text: string, mode = 0o755): Promise<string> {
    const path = join(root, folder, 'claude');
    await mkdir(join(root, folder), { recursive: true });
    await writeFile(path, `#!/bin/sh\n${text}\n`);
    await chmod(path, mode);
    return path;
  }

  const refusal = async (named: string | null, PATH: string): Promise<readonly (string | number | undefined)[]> => {
    const error = await findClaude(named, { PATH }).catch((reason: unknown) => reason);
    if (!(error instanceof RaymondError)) throw new Error('it was not refused');
    return [error.exitCode, error.message.replaceAll(root, '…'), error.hint];
  };

  test('is the first executable on the PATH, or the configured one', async () => {
    const path = await program('good', 'echo "2.1.325 (Claude Code)"');
    await program('unusable', 'echo 1.0.0', 0o644);
    await mkdir(join(root, 'folder', 'claude'), { recursive: true });
    const PATH = ['', join(root, 'missing'), join(root, 'unusable'), join(root, 'folder'), join(root, 'good')].join(
      delimiter,
    );
    expect(await findClaude(null, { PATH })).toStrictEqual({ path, version: [2, 1, 325] });
    expect(await findClaude('claude', { PATH })).toStrictEqual({ path, version: [2, 1, 325] });
    expect(await findClaude(path, { PATH: '' })).toStrictEqual({ path, version: [2, 1, 325] });
  });

  test('is reported as missing with a hint how to get it', async () => {
    expect(await refusal(null, '/nowhere')).toStrictEqual([
      64,
      'Claude Code was not found: there is no `claude` on the PATH.',
      expect.stringContaining('Install it'),
    ]);
    expect(await refusal('/no/claude', '')).toStrictEqual([
      64,
      'There is no Claude Code at /no/claude.',
      expect.any(String),
    ]);
  });

  test('is refused if it is too old, another program, or broken', async () => {
    expect(await refusal(await program('old', 'echo 1.0.3'), '')).toStrictEqual([
      64,
      '…/old/claude is Claude Code 1.0.3; Raymond needs 2.1.197 or newer.',
      expect.stringContaining('claude update'),
    ]);
    expect((await refusal(await program('cow', 'echo moo'), ''))[1]).toBe(
      '…/cow/claude does not seem to be Claude Code: it calls itself "moo".',
    );
    expect((await refusal(await program('broken', 'echo out of order >&2; exit 3'), ''))[1]).toBe(
      '…/broken/claude --version failed: out of order',
    );
  });

  test('is ended with its children if it does not respond', async () => {
    const path = await program('slow', 'sleep 600 & echo $! > "$0.pid"; wait');
    await expect(findClaude(path, { PATH: process.env.PATH }, 500)).rejects.toThrow(
      `${path} --version failed: it did not answer within 0.5 s`,
    );
    const pid = Number(await readFile(`${path}.pid`, 'utf8'));
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
