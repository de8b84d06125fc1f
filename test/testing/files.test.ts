import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { folderWith, resultsIn } from './rig.ts';

const windows = process.platform === 'win32';

const PROMPT = 'Go. Say <result>r</result>.';

/** The folder in which the only scenario of a folder was played. */
async function runIn(folder: string): Promise<string> {
  const [result] = await resultsIn(folder, { keep: true });
  expect(result?.differences).toStrictEqual([]);
  return result?.folder ?? '';
}

const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.startsWith('.raymond'))
    .sort();

describe('the files of a scenario', () => {
  test('may be empty folders: their names end in a slash', async () => {
    const scenario = `
files: { inbox/: , out/deep/: "" }
answers: { START: { text: <result>r</result>, write: { "{{agent_id}}/": , a/b.txt: b } } }`;
    const played = await runIn(folderWith({ 'START.md': PROMPT, 'a.test.yaml': scenario }));
    expect(filesIn(played)).toStrictEqual(['a', 'a/b.txt', 'inbox', 'main', 'out', 'out/deep']);
  });

  test.skipIf(windows)('may be programs that scripts find before all others (not on Windows)', async () => {
    const scenario = `
bin: { git: 'echo "fake git $1"', npm: "#!/bin/bash\\necho fake npm" }
scripts: real
expect: { result: fake git push fake npm }`;
    const script = '#!/bin/bash\necho "<result>$(git push) $(npm)</result>"';
    const played = await runIn(folderWith({ 'START.sh': script, 'a.test.yaml': scenario }));
    expect(filesIn(played)).toStrictEqual([]);
  });

  test.skipIf(windows)('are executable if they begin with #! (not on Windows)', async () => {
    const states = {
      'START.md': '---\nallowed_transitions: [{ tag: goto, target: RUN.sh }]\n---\nWrite b.sh.',
      'RUN.sh': 'echo "<result>$(./a.sh) $(./b.sh)</result>"',
    };
    const scenario = `
files: { a.sh: "#!/bin/sh\\necho a\\n", b.sh: not yet, c.sh: "echo c\\n" }
answers: { START: { text: Done., write: { b.sh: "#!/bin/sh\\necho b\\n" } } }
expect: { result: a b }`;
    const played = await runIn(folderWith({ ...states, 'a.test.yaml': scenario }));
    expect(statSync(join(played, 'c.sh')).mode & 0o111).toBe(0);
  });

  test('fail only their own scenario if they cannot be created', async () => {
    const scenario = `answers: { START: <result>r</result> }
scenarios:
  - { name: a, files: { a: b, a/c: d } }
  - { name: b }`;
    const results = await resultsIn(folderWith({ 'START.md': PROMPT, 'a.test.yaml': scenario }));
    expect(results.map(({ differences }) => differences.map(({ detail }) => detail))).toStrictEqual([
      [{ kind: 'problem', message: expect.stringMatching(/^a\/c cannot be written \(E\w+\)$/) }],
      [],
    ]);
  });
});

describe('a folder of fixtures', () => {
  const answers = 'answers: { START: <result>r</result> }\n';

  test('is copied, and the files of the scenario take precedence', async () => {
    const folder = folderWith({
      'START.md': PROMPT,
      'tests/a.test.yaml': `${answers}files_from: fixtures\nfiles: { b.txt: own, c.txt: c }`,
      'tests/fixtures/a/a.sh': 'exit',
      'tests/fixtures/b.txt': 'b',
      'tests/fixtures/.raymond/state/test.json': '{',
    });
    const fixtures = join(folder, 'tests/fixtures');
    mkdirSync(join(fixtures, 'empty'));
    writeFileSync(join(fixtures, 'bytes'), Buffer.of(0, 255));
    chmodSync(join(fixtures, 'a/a.sh'), 0o755);
    const played = await runIn(folder);
    expect(filesIn(played)).toStrictEqual(['a', 'a/a.sh', 'b.txt', 'bytes', 'c.txt', 'empty']);
    expect(readFileSync(join(played, 'b.txt'), 'utf8')).toBe('own');
    expect(readFileSync(join(played, 'bytes'))).toStrictEqual(Buffer.of(0, 255));
    if (!windows) expect(statSync(join(played, 'a/a.sh')).mode & 0o111).toBe(0o111);
  });

  test('takes precedence over the one beside the scenario if it is named', async () => {
    const scenario = `${answers}files_from: one
scenarios:
  - { name: a, expect: { files: { x: "1" } } }
  - { name: b, files_from: two, expect: { files: { x: "2" } } }`;
    const folder = folderWith({ 'START.md': PROMPT, 'a.test.yaml': scenario, 'one/x': '1', 'two/x': '2' });
    expect((await resultsIn(folder)).map(({ differences }) => differences)).toStrictEqual([[], []]);
  });

  test.each([
    ['nowhere', () => {}, 'there is no such folder'],
    ['START.md', () => {}, 'it is not a folder'],
    [
      'f',
      (folder: string) => symlinkSync('/', join(folder, 'l')),
      '`l` is a link or a special file: put a regular file there',
    ],
    ['f', (folder: string) => huge(join(folder, 'x')), 'it contains more than 64 MB'],
    ['f', (folder: string) => crowd(folder), 'it contains more than 10000 files'],
  ])('%s cannot be used', async (from, prepare, why) => {
    const folder = folderWith({ 'START.md': PROMPT, 'a.test.yaml': `${answers}files_from: ${from}`, 'f/x': '' });
    prepare(join(folder, 'f'));
    await expect(resultsIn(folder)).rejects.toThrow(
      `a.test.yaml cannot be used: 1 error\na.test.yaml:2:13: \`${from}\` cannot be copied: ${why}`,
    );
  });

  const huge = (file: string): void => truncateSync(file, 64 * 2 ** 20 + 1);
  const crowd = (folder: string): void => {
    for (let at = 0; at <= 10_000; at += 1) mkdirSync(join(folder, String(at)));
  };
});
