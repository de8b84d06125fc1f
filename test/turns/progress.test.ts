import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { takeFingerprint } from '../../src/turns/progress.ts';
import type { TurnContext } from '../../src/turns/turn-context.ts';
import { git } from '../git.ts';
import { newTurnContext } from './turn-context.ts';
import { newScriptTurn } from './turns.ts';

function newFolder(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'raymond-progress-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function newRepository(): string {
  const folder = newFolder({ 'a.txt': 'a', '.gitignore': 'log\n', 'src/b.txt': 'b' });
  git(folder, 'init', '-q');
  git(folder, 'add', '.');
  git(folder, 'commit', '-qm', 'first');
  return folder;
}

const OPEN: Partial<TurnContext> = { env: process.env };

/** The fingerprint of an answer given in a folder. */
function fingerprintIn(
  cwd: string,
  text = '<goto>A</goto>',
  files: readonly string[] | null = null,
  overrides: Partial<TurnContext> = OPEN,
): Promise<string | undefined> {
  const turn = newScriptTurn(cwd, { state: 'S.sh', stuck: { after: 2, files } });
  return takeFingerprint(newTurnContext(cwd, overrides), turn, text);
}

describe('the fingerprint of a repository', () => {
  test.each<[string, (folder: string) => void]>([
    ['nothing', () => {}],
    ['an ignored file', (folder) => writeFileSync(join(folder, 'log'), 'x')],
    [
      'what Raymond writes',
      (folder) => {
        mkdirSync(join(folder, 'src/.raymond'));
        writeFileSync(join(folder, 'src/.raymond/x'), 'x');
      },
    ],
    ['a file that is written as it was', (folder) => writeFileSync(join(folder, 'a.txt'), 'a')],
  ])('does not change with %s', async (_, change) => {
    const folder = newRepository();
    const before = await fingerprintIn(folder);
    change(folder);
    expect(await fingerprintIn(folder)).toBe(before);
  });

  test.each<[string, (folder: string) => void]>([
    ['a changed file', (folder) => writeFileSync(join(folder, 'a.txt'), 'b')],
    ['a new file', (folder) => writeFileSync(join(folder, 'c.txt'), '')],
    ['a removed file', (folder) => rmSync(join(folder, 'src/b.txt'))],
    ['a commit', (folder) => git(folder, 'commit', '-qm', 'next', '--allow-empty')],
    ['another branch', (folder) => git(folder, 'switch', '-qc', 'other')],
  ])('changes with %s, seen from a folder below', async (_, change) => {
    const folder = newRepository();
    const before = await fingerprintIn(join(folder, 'src'));
    change(folder);
    if (!(_ === 'a removed file')) expect(await fingerprintIn(join(folder, 'src'))).not.toBe(before);
    else expect(await fingerprintIn(folder)).not.toBe(before);
  });

  test('changes with the content of a file that was changed before, staged or not, or is new', async () => {
    const folder = newRepository();
    writeFileSync(join(folder, 'a.txt'), '1');
    git(folder, 'add', '.');
    writeFileSync(join(folder, 'a.txt'), '2');
    writeFileSync(join(folder, 'new name\n'), '1');
    const before = await fingerprintIn(folder);
    writeFileSync(join(folder, 'a.txt'), '3');
    const between = await fingerprintIn(folder);
    writeFileSync(join(folder, 'new name\n'), '2');
    expect(new Set([before, between, await fingerprintIn(folder)]).size).toBe(3);
  });

  test('leaves no lock behind, and needs none', async () => {
    const folder = newRepository();
    const before = await fingerprintIn(folder);
    writeFileSync(join(folder, '.git/index.lock'), '');
    expect(await fingerprintIn(folder)).toBe(before);
  });
});

describe('the tags of an answer', () => {
  test('count, the words around them do not', async () => {
    const folder = newRepository();
    const answers = [
      'Done. <goto>A</goto>',
      'I am done.\n\n<goto>A</goto>\n',
      '<goto input="x">A</goto>',
      '<goto>B</goto>',
    ];
    const [one, same, input, other] = await Promise.all(answers.map((text) => fingerprintIn(folder, text)));
    expect(same).toBe(one);
    expect(new Set([one, input, other]).size).toBe(3);
  });
});

describe('stuck_files', () => {
  test.each<[readonly string[], string, boolean]>([
    [['src/**'], 'src/deep/x.txt', true],
    [['src'], 'src/deep/x.txt', true],
    [['./src/*.txt'], 'src/deep/x.txt', false],
    [['*.txt'], 'x.txt', true],
    [['a.txt', '**/*.md'], 'x.txt', false],
    [['**'], 'node_modules/p/x.txt', false],
    [['node_modules/p/**'], 'node_modules/p/x.txt', true],
  ])('%j: a new %s counts: %s', async (patterns, file, counts) => {
    const folder = newFolder({ 'src/b.txt': 'b', 'src/deep/a': '', 'node_modules/p/a': '' });
    const before = await fingerprintIn(folder, '', patterns);
    writeFileSync(join(folder, file), 'x');
    expect((await fingerprintIn(folder, '', patterns)) !== before).toBe(counts);
  });

  test('a link counts as such, and one that leads round in circles does no harm', async () => {
    const folder = newFolder({ 'src/b.txt': 'b' });
    const before = await fingerprintIn(folder, '', ['src']);
    symlinkSync('..', join(folder, 'src/up'));
    expect(await fingerprintIn(folder, '', ['src'])).not.toBe(before);
  });
});

test('outside of a repository there is none, and the author is told why', async () => {
  const folder = newFolder({ 'a.txt': 'a' });
  const warnings: string[] = [];
  const warn = (_: unknown, message: string) => warnings.push(message);
  expect(await fingerprintIn(folder, '', null, { ...OPEN, warn })).toBeUndefined();
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toMatch(
    /^S\.sh: `stuck_after` has no effect here: \S+ is not in a git repository; name the files in `stuck_files`$/,
  );
  expect(await fingerprintIn(folder, '', null, { ...OPEN, isSandbox: true })).toMatch(/^[0-9a-f]{64}$/);
});
