import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { StateSource } from '../../src/graph/workflow-source.ts';
import { readWorkflowSource } from '../../src/workflow/workflow-source.ts';
import { temporaryFolders } from './temp.ts';
import { buildZip } from './zip-builder.ts';

const folderWith = temporaryFolders();
const HERE = { platform: 'unix', resetStack: 'keep', variables: ['who'] } as const;

const START = `---
description: The plan
allowed_transitions:
  - { tag: goto, target: B }
  - tag: fork
    target: C.sh
    Next: B
    item: "1"
---
Continue.
`;

async function stateIn(files: Readonly<Record<string, string | Uint8Array>>, file: string): Promise<StateSource> {
  const { source } = await readWorkflowSource(folderWith(files), HERE);
  const found = source.files.find((each) => each.file === file);
  if (found?.kind !== 'state') throw new Error(`${file} is ${found?.kind}`);
  return found;
}

describe('the source of a workflow', () => {
  test('has every file, those of the other platform only by name, and no README', async () => {
    const folder = folderWith({ 'START.md': 'x', 'A.sh': 'y', 'B.bat': 'z', 'data.json': '{}', 'README.md': 'hi' });
    const { source, location } = await readWorkflowSource(folder, HERE);
    expect(location.root).toBe(folder);
    expect(source).toMatchObject({ ...HERE, entry: { kind: 'found', file: 'START.md' }, entryGiven: false });
    expect(source.files.map(({ file, kind }) => `${file} ${kind}`)).toStrictEqual([
      'A.sh state',
      'B.bat other',
      'START.md state',
      'data.json other',
    ]);
  });

  test('has the positions of the frontmatter', async () => {
    const { state, text, findings, entries, keys } = await stateIn({ 'START.md': START }, 'START.md');
    expect([text, state.text, findings]).toStrictEqual([START, 'Continue.\n', []]);
    expect(state.rules.policy.map(({ tag }) => tag)).toStrictEqual(['goto', 'fork']);
    expect(keys).toStrictEqual({ description: { line: 2, column: 14 }, allowed_transitions: { line: 4, column: 3 } });
    expect(entries).toStrictEqual([
      { at: { line: 4, column: 5 }, keys: { tag: { line: 4, column: 12 }, target: { line: 4, column: 26 } } },
      {
        at: { line: 5, column: 5 },
        keys: {
          tag: { line: 5, column: 10 },
          target: { line: 6, column: 13 },
          next: { line: 7, column: 11 },
          item: { line: 8, column: 11 },
        },
      },
    ]);
  });

  test('does not check for missing states: lint does', async () => {
    const text = '---\nallowed_transitions: [{ tag: goto, target: NO.md }]\n---\nx';
    expect((await stateIn({ 'START.md': text }, 'START.md')).findings).toStrictEqual([]);
  });

  test('omits the positions of entries that are not in the policy', async () => {
    const text = '---\nallowed_transitions:\n  - { tag: gotto, target: B }\n  - 5\n  - { tag: result }\n---\nx';
    const { state, entries, findings } = await stateIn({ 'START.md': text }, 'START.md');
    expect(state.rules.policy.map(({ tag }) => tag)).toStrictEqual(['result']);
    expect(entries.map(({ at }) => at)).toStrictEqual([{ line: 5, column: 5 }]);
    expect(findings.map(({ level, line }) => `${level} ${line}`)).toStrictEqual(['error 3', 'error 4']);
  });

  test.each([
    ['---\nmodel: [\n---\nx', 'this is not valid YAML'],
    ['---\nmodel: x', 'never closed'],
    ['---\n- a\n---\nx', 'frontmatter is made of keys and values'],
  ])('contains a broken prompt: %j', async (text, message) => {
    const { findings, entries, keys } = await stateIn({ 'START.md': text }, 'START.md');
    expect(findings[0]).toMatchObject({ level: 'error', message: expect.stringContaining(message) });
    expect([entries, keys]).toStrictEqual([[], {}]);
  });

  test('marks files that are not text', async () => {
    const { source } = await readWorkflowSource(
      folderWith({ 'START.md': 'ok', 'A.md': Buffer.from([0x61, 0x0a, 0xff]) }),
      HERE,
    );
    expect(source.files[0]).toMatchObject({ kind: 'unreadable', file: 'A.md', at: { line: 2, column: 1 } });
  });

  test('has no entry if there is none, or more than one', async () => {
    const entryOf = async (...files: string[]) =>
      (await readWorkflowSource(folderWith(Object.fromEntries(files.map((file) => [file, 'x']))), HERE)).source.entry
        .kind;
    expect(await entryOf('A.md')).toBe('unknown');
    expect(await entryOf('START.md', '1_START.md')).toBe('ambiguous');
    expect(await entryOf('START.bat')).toBe('foreign');
  });

  test('starts in the given state file, among all states of its folder', async () => {
    const folder = folderWith({ 'A.md': 'x', 'B.sh': 'y', 'C.bat': 'z' });
    const { source, location } = await readWorkflowSource(join(folder, 'B.sh'), HERE);
    expect(location.root).toBe(folder);
    expect(source).toMatchObject({ name: 'B', entry: { kind: 'found', file: 'B.sh' }, entryGiven: true });
    expect(source.files.map(({ file }) => file)).toStrictEqual(['A.md', 'B.sh', 'C.bat']);
    expect((await readWorkflowSource(join(folder, 'C.bat'), HERE)).source.entry.kind).toBe('foreign');
    const onWindows = await readWorkflowSource(join(folder, 'C.bat'), { ...HERE, platform: 'windows' });
    expect(onWindows.source.entry).toStrictEqual({ kind: 'found', file: 'C.bat' });
  });

  test('is the same for a zip and its folder', async () => {
    const files = { 'START.md': START, 'B.md': 'b', 'C.sh': 'c' };
    const folder = folderWith(files);
    const path = join(folderWith(), 'flow.zip');
    writeFileSync(path, buildZip(Object.entries(files).map(([name, data]) => ({ name, data }))));
    const { source, location } = await readWorkflowSource(path, HERE);
    expect([source.name, location.root]).toStrictEqual(['flow', path]);
    expect(source.files).toStrictEqual((await readWorkflowSource(folder, HERE)).source.files);
  });
});

describe('if there is no start state', () => {
  test('the folders below are searched, but no deeper and not if there is one', async () => {
    const folder = folderWith({ 'A.md': 'a' });
    for (const [path, file] of [
      ['states', 'START.md'],
      ['other', 'A.md'],
      ['.hidden', 'START.md'],
      ['deep/er', 'START.md'],
    ] as const) {
      mkdirSync(join(folder, path), { recursive: true });
      writeFileSync(join(folder, path, file), 'x');
    }
    expect((await readWorkflowSource(folder, HERE)).source.below).toStrictEqual(['states/START.md']);
    writeFileSync(join(folder, 'START.md'), 'x');
    expect((await readWorkflowSource(folder, HERE)).source.below).toBeUndefined();
  });
});

describe('there is no workflow source for', () => {
  test.each(['README.md', 'CLAUDE.md', 'AGENTS.md', '.hidden.md'])('%s, which is not a state', async (file) => {
    const folder = folderWith({ [file]: 'x', 'START.md': 'y' });
    await expect(readWorkflowSource(join(folder, file), HERE)).rejects.toMatchObject({
      exitCode: 64,
      message: expect.stringContaining('is not a state'),
    });
  });

  test('a missing path', async () => {
    await expect(readWorkflowSource(join(folderWith(), 'no'), HERE)).rejects.toMatchObject({ exitCode: 64 });
  });

  test('an invalid zip', async () => {
    const folder = folderWith({ 'flow.zip': 'not a zip' });
    await expect(readWorkflowSource(join(folder, 'flow.zip'), HERE)).rejects.toMatchObject({ exitCode: 65 });
  });
});
