import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSandboxFolders, REMOVAL_BATCH_SIZE, type SandboxFolders } from '../../src/testing/sandbox.ts';

const MANY = 50;

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Makes many folders, with something in each, and drops all of them. */
function used(sandboxes: SandboxFolders): readonly string[] {
  return Array.from({ length: MANY }, (_, at) => {
    const folder = sandboxes.make(at % 2 === 0);
    mkdirSync(join(folder, 'deep', 'down'), { recursive: true });
    writeFileSync(join(folder, 'deep', 'down', 'file'), 'x');
    sandboxes.release(folder);
    return folder;
  });
}

const left = (folders: readonly string[]): readonly string[] => folders.map(dirname).filter(existsSync);

describe('after a test run, of the folders of scenarios', () => {
  test('none is left, for any number of them', async () => {
    const sandboxes = openSandboxFolders(false);
    const folders = used(sandboxes);
    expect(new Set(folders).size).toBe(MANY);
    await sandboxes.close();
    expect(left(folders)).toStrictEqual([]);
  });

  test('none is left if the side process cannot start, and never more than one batch exists', async () => {
    vi.stubEnv('PATH', '/nowhere');
    const sandboxes = openSandboxFolders(false);
    const folders = used(sandboxes);
    expect(folders.filter(existsSync)).toStrictEqual(folders.slice(-(MANY % REMOVAL_BATCH_SIZE)));
    await sandboxes.close();
    expect(left(folders)).toStrictEqual([]);
  });

  test('all are left if they are to be kept', async () => {
    const sandboxes = openSandboxFolders(true);
    const folders = used(sandboxes);
    for (const root of new Set(folders.map(dirname))) {
      onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
    }
    await sandboxes.close();
    expect(folders.map((folder) => readdirSync(folder).sort())).toStrictEqual(folders.map(() => ['.raymond', 'deep']));
  });
});
