import { renameSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InvalidWorkflow } from '../../src/workflow/invalid-workflow.ts';
import { unzip } from '../../src/workflow/unzip.ts';
import { openWorkflowZip } from '../../src/workflow/zip.ts';
import { temporaryFolders } from './temp.ts';
import { buildZip, type ZipEntry } from './zip-builder.ts';

const folder = temporaryFolders();

async function contents(zip: Buffer): Promise<Record<string, string> | string> {
  const unzipped = await unzip(zip);
  if (unzipped.kind === 'refused') return unzipped.message;
  return Object.fromEntries([...unzipped.files].map(([name, { bytes }]) => [name, Buffer.from(bytes).toString()]));
}

const START: ZipEntry = { name: 'START.md', data: 'go' };

describe('a zip that is read', () => {
  test.each<[string, ZipEntry[], Record<string, string>]>([
    ['stored', [START], { 'START.md': 'go' }],
    ['deflated', [{ ...START, deflated: true }], { 'START.md': 'go' }],
    ['an empty file, both ways', [{ name: 'A.md' }, { name: 'B.md', deflated: true }], { 'A.md': '', 'B.md': '' }],
    ['with zip64 sizes', [{ ...START, zip64: true }], { 'START.md': 'go' }],
    ['a name in UTF-8', [{ name: 'é😀.md', data: 'x' }], { 'é😀.md': 'x' }],
    ['a name in UTF-8 that does not say so', [{ name: 'é.md', data: 'x', flags: 0 }], { 'é.md': 'x' }],
    ['a name in the old code page', [{ name: Buffer.from('\x82.md', 'latin1'), data: 'x', flags: 0 }], { 'é.md': 'x' }],
    [
      'in one folder',
      [{ name: 'wf/' }, { name: 'wf/A.md', data: 'a' }, { name: 'wf/B.sh', data: 'b' }],
      { 'A.md': 'a', 'B.sh': 'b' },
    ],
    ['names that begin with ./', [{ name: './A.md', data: 'a' }], { 'A.md': 'a' }],
    [
      'with what tools leave behind',
      [START, { name: '__MACOSX/._START.md', data: '?' }, { name: '.DS_Store', data: '?' }, { name: '.git/a/b' }],
      { 'START.md': 'go' },
    ],
    ['with an empty folder', [START, { name: 'empty/' }, { name: 'a/b/c/' }], { 'START.md': 'go' }],
    [
      'a hidden link is nobody’s',
      [START, { name: '.link', data: '/etc/passwd', mode: 0o120777 }],
      { 'START.md': 'go' },
    ],
  ])('%s', async (_, entries, expected) => {
    expect(await contents(buildZip(entries))).toStrictEqual(expected);
  });
});

describe('a zip that is refused', () => {
  test.each<[string, ZipEntry[], string]>([
    ['empty', [], 'it is empty: it contains no files (dot files and `__MACOSX` do not count)'],
    [
      'nothing but folders and dot files',
      [{ name: 'a/' }, { name: '.x' }],
      'it is empty: it contains no files (dot files and `__MACOSX` do not count)',
    ],
    [
      'mixed',
      [START, { name: 'sub/A.md' }],
      'it contains files at the top (`START.md`) and a folder (`sub`): keep all states in one place',
    ],
    [
      'several folders',
      [{ name: 'a/A.md' }, { name: 'b/B.md' }],
      'it contains several folders (`a`, `b`): zip one workflow at a time',
    ],
    [
      'deeper nesting',
      [{ name: 'a/b/A.md' }],
      'it contains folders within a folder (`a/b/A.md`): keep all states at the top, or in one folder',
    ],
    ['an absolute name', [{ name: '/A.md' }], 'it contains `/A.md`, an absolute path; names must be relative'],
    ['a drive', [{ name: 'c:A.md' }], 'it contains `c:A.md`, an absolute path; names must be relative'],
    ['a way out', [{ name: '../A.md' }], 'it contains `../A.md`, a path that leads out of the zip'],
    [
      'a way out in the middle',
      [{ name: 'a/../../A.md' }],
      'it contains `a/../../A.md`, a path that leads out of the zip',
    ],
    [
      'a backslash',
      [{ name: 'a\\A.md' }],
      'it contains `a\\A.md`, a name with a backslash: make the zip with a tool that writes `/`',
    ],
    ['a NUL in a name', [{ name: 'A.md\0.txt' }], 'it contains `A.md\\u0000.txt`, a name with a NUL character'],
    ['a link', [{ ...START, mode: 0o120777 }], '`START.md` in it is a link: zip the file itself'],
    ['encrypted', [{ ...START, flags: 0x801 }], 'it is encrypted: make it without a password'],
    ['strongly encrypted', [{ ...START, flags: 0x841 }], 'it is encrypted: make it without a password'],
    [
      'an unusual compression',
      [{ ...START, method: 14 }],
      '`START.md` in it uses compression method 14: make the zip with the usual one (deflate)',
    ],
    ['two of a name', [START, START], 'it contains two files named `START.md`'],
    [
      'two of a name, told apart by `.`',
      [START, { ...START, name: './START.md' }],
      'it contains two files named `START.md`',
    ],
    ['a wrong checksum', [{ ...START, crc: 1 }], 'it is damaged: `START.md` in it does not match its checksum'],
    ['a size too small', [{ ...START, size: 1 }], 'it is damaged: `START.md` in it should have 1 bytes and has 2'],
    [
      'a size too large',
      [{ ...START, deflated: true, size: 5e8 }],
      'it is damaged: `START.md` in it should have 500000000 bytes and has 2',
    ],
    [
      'packed bytes cut off',
      [{ ...START, deflated: true, packedSize: 2 }],
      'it is damaged: `START.md` in it cannot be unpacked',
    ],
    [
      'packed bytes that are none',
      [{ ...START, method: 8, data: '\xff\xff\xff' }],
      'it is damaged: `START.md` in it cannot be unpacked',
    ],
    [
      'a name that is not the UTF-8 it says',
      [{ name: Buffer.from([0xff]) }],
      'it is damaged: the name `\uFFFD` in it is not UTF-8',
    ],
  ])('%s', async (_, entries, message) => {
    expect(await contents(buildZip(entries))).toBe(message);
  });

  test('too many entries', async () => {
    const entries = Array.from({ length: 10_001 }, (_, i) => ({ name: `${i}.md` }));
    expect(await contents(buildZip(entries))).toBe('it has more than 10,000 entries');
    expect(Object.keys(await contents(buildZip(entries.slice(1))))).toHaveLength(10_000);
  });

  test('more entries than stated', async () => {
    expect(await contents(buildZip([START, { name: 'A.md' }], { count: 1 }))).toBe(
      'it is damaged: it contains more entries than it states',
    );
  });

  test('a bomb, with any header', async () => {
    const zeros = Buffer.alloc(65 * 1024 * 1024);
    const bomb = buildZip([{ name: 'A.md', data: zeros, deflated: true, size: 10 }]);
    expect(bomb.length).toBeLessThan(100_000);
    expect(await contents(bomb)).toBe('it unpacks to more than 64 MiB');
  });

  test('a bomb of many small parts', async () => {
    const part = { data: Buffer.alloc(13 * 1024 * 1024), deflated: true };
    const names = ['A', 'B', 'C', 'D', 'E'];
    expect(await contents(buildZip(names.map((name) => ({ ...part, name }))))).toBe('it unpacks to more than 64 MiB');
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['text', Buffer.from('PK, said the man')],
    ['the first half of a zip', buildZip([START]).subarray(0, 60)],
    ['the second half of a zip', buildZip([START]).subarray(40)],
    ['a zip with something after it', Buffer.concat([buildZip([START]), Buffer.from('x')])],
  ])('damaged: %s', async (_, bytes) => {
    expect(await contents(bytes)).toMatch(/^it is damaged or not a zip: /);
  });

  test('a zip with any damage gives its files or a reason', async () => {
    const whole = buildZip([
      START,
      { name: 'A.md', data: 'a'.repeat(200), deflated: true },
      { name: 'B.md', zip64: true },
    ]);
    const damage = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(damage, fc.nat(whole.length), fc.boolean(), async (changes, cut, cuts) => {
        const bytes = Buffer.from(cuts ? whole.subarray(0, cut) : whole);
        for (const [at, byte] of changes) if (at < bytes.length) bytes[at] = byte;
        expect(['files', 'refused']).toContain((await unzip(bytes)).kind);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a zip as a source', () => {
  const text = async (source: ReturnType<typeof openWorkflowZip>, file: string) =>
    Buffer.from((await source.read(file)).bytes).toString();

  test('lists its files sorted, and reads them', async () => {
    const source = openWorkflowZip(join(folder({ 'x.zip': buildZip([{ name: 'B.md', data: 'b' }, START]) }), 'x.zip'));
    expect([source.name, await source.list()]).toStrictEqual(['x.zip', ['B.md', 'START.md']]);
    expect(await text(source, 'B.md')).toBe('b');
  });

  test('is unpacked once as long as it does not change', async () => {
    const source = openWorkflowZip(join(folder({ 'x.zip': buildZip([START]) }), 'x.zip'));
    const [one, other] = await Promise.all([source.read('START.md'), source.read('START.md')]);
    expect(one).toBe(other);
    expect(await source.read('START.md')).toBe(one);
  });

  test('is read again when it is replaced, even by one of the same size and time', async () => {
    const path = join(folder({ 'x.zip': buildZip([START]), 'y.zip': buildZip([{ ...START, data: 'no' }]) }), 'x.zip');
    const source = openWorkflowZip(path);
    expect(await text(source, 'START.md')).toBe('go');
    utimesSync(path, 1, 1);
    utimesSync(join(path, '../y.zip'), 1, 1);
    renameSync(join(path, '../y.zip'), path);
    expect(await text(source, 'START.md')).toBe('no');
  });

  test('is read again after it was found incomplete', async () => {
    const whole = buildZip([START]);
    const path = join(folder({ 'x.zip': whole.subarray(0, 50) }), 'x.zip');
    const source = openWorkflowZip(path);
    await expect(source.read('START.md')).rejects.toThrow(InvalidWorkflow);
    writeFileSync(path, whole);
    expect(await text(source, 'START.md')).toBe('go');
  });

  test('reports a file that it does not have, and that it is gone', async () => {
    const path = join(folder({ 'x.zip': buildZip([START]) }), 'x.zip');
    const source = openWorkflowZip(path);
    await expect(source.read('A.md')).rejects.toThrow('x.zip: it no longer contains `A.md`');
    renameSync(path, `${path}.away`);
    await expect(source.read('START.md')).rejects.toThrow('x.zip: it cannot be read: it does not exist');
  });

  test('is not even read if it is too large', async () => {
    const path = join(folder({ 'x.zip': buildZip([START]) }), 'x.zip');
    truncateSync(path, 80 * 1024 * 1024 + 1);
    await expect(openWorkflowZip(path).list()).rejects.toThrow('x.zip: it is larger than 80 MiB');
  });
});
