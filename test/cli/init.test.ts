import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openWorkflow } from '../../src/app/start.ts';
import { chooseSchemas, FIRST_WORKFLOW } from '../../src/cli/commands/init.ts';
import { newCliProject } from './cli-project.ts';

describe('raymond init', () => {
  test.each([
    [[], 'workflows/first', 'workflows/first'],
    [['mine'], 'mine', './mine'],
    [['a b/c/'], 'a b/c', "'a b/c'"],
    [['.'], '.', '.'],
  ])('%j writes a workflow without findings, and prints the next steps', async (args, dir, written) => {
    const { cwd, raymond } = newCliProject();
    const { code, out, err } = await raymond('init', ...args);
    expect([code, err]).toStrictEqual([0, '']);
    expect(readdirSync(join(cwd, dir)).sort()).toStrictEqual(Object.keys(FIRST_WORKFLOW).sort());
    const { entry, findings } = await openWorkflow(join(cwd, dir), 'unix');
    expect([entry, findings]).toStrictEqual(['START.md', []]);
    expect(statSync(join(cwd, dir, 'CHECK.sh')).mode & 0o100).toBe(0o100);
    expect(out).toContain(` ${written} --budget 1`);
    expect(out.trimEnd().split('\n')).toHaveLength(7);
  });

  test('sends Claude no text that is meant for the author', async () => {
    const { cwd, raymond } = newCliProject();
    await raymond('init', 'first');
    const workflow = await openWorkflow(join(cwd, 'first'), 'unix');
    for (const file of ['START.md', 'FIX.md', 'REPORT.md']) {
      const { text } = await workflow.state(file);
      expect(text).not.toMatch(/Raymond|workflow|<!--|^#(?!#)/im);
    }
  });

  test.each([['START.md'], ['notes.txt']])('does not change a folder with a %s', async (name) => {
    const { cwd, raymond } = newCliProject();
    mkdirSync(join(cwd, 'first'));
    writeFileSync(join(cwd, 'first', name), 'mine');
    const { code, err } = await raymond('init', 'first');
    expect([code, err]).toStrictEqual([64, expect.stringContaining(`first is not empty: ${name}\n`)]);
    expect(readdirSync(join(cwd, 'first'))).toStrictEqual([name]);
    expect(readFileSync(join(cwd, 'first', name), 'utf8')).toBe('mine');
  });

  test.each([['first'], ['first/more']])('names the file that prevents the creation of %s', async (dir) => {
    const { cwd, raymond } = newCliProject();
    writeFileSync(join(cwd, 'first'), 'mine');
    const { code, err } = await raymond('init', dir);
    expect([code, err]).toStrictEqual([
      64,
      expect.stringMatching(`^raymond: ${dir} cannot be written: there is a file`),
    ]);
    expect(readFileSync(join(cwd, 'first'), 'utf8')).toBe('mine');
  });
});

describe('raymond init --schemas', () => {
  test('writes the schemas of a workflow again, and nothing else', async () => {
    const { cwd, raymond } = newCliProject();
    mkdirSync(join(cwd, 'mine'));
    writeFileSync(join(cwd, 'mine/START.md'), 'mine');
    writeFileSync(join(cwd, 'mine/scenario.schema.json'), 'old');
    const said = {
      code: 0,
      out: 'Wrote mine: frontmatter.schema.json, scenario.schema.json, workflow.schema.json\n',
      err: '',
    };
    expect(await raymond('init', 'mine/', '--schemas')).toStrictEqual(said);
    const { 'START.md': start, ...schemas } = textsIn(join(cwd, 'mine'));
    expect([start, schemas]).toStrictEqual(['mine', chooseSchemas(cwd)]);
  });

  test('writes into the current folder, and next to a config file its schema', async () => {
    const { cwd, raymond } = newCliProject();
    await raymond('--init-config');
    const before = textsIn(join(cwd, '.raymond'));
    writeFileSync(join(cwd, '.raymond/config.schema.json'), 'old');
    expect((await raymond('init', '.raymond', '--schemas')).code).toBe(0);
    expect(textsIn(join(cwd, '.raymond'))).toStrictEqual(before);
    expect((await raymond('init', '--schemas')).out).toBe(
      'Wrote .: frontmatter.schema.json, scenario.schema.json, workflow.schema.json\n',
    );
  });

  test('creates no folder', async () => {
    const { cwd, raymond } = newCliProject();
    const { code, err } = await raymond('init', 'nowhere', '--schemas');
    expect([code, err]).toStrictEqual([64, expect.stringMatching(/^raymond: there is no folder nowhere\n/)]);
    expect(readdirSync(cwd)).toStrictEqual([]);
  });

  const textsIn = (folder: string): Record<string, string> =>
    Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
});

test.skipIf(!existsSync('/proc'))('init does not wait forever if no folder can be created', async () => {
  const { code, err } = await newCliProject().raymond('init', '/proc/x/y');
  expect([code, err]).toStrictEqual([64, expect.stringMatching(/^raymond: \/proc\/x\/y cannot be written: (no|perm)/)]);
});

describe('the first workflow', () => {
  test('can be run immediately: its gate rejects the first answer', async () => {
    const { raymond } = newCliProject();
    await raymond('init', 'first');
    const { code, out, err } = await raymond('first', '--agent', 'replay:first/answers.yaml');
    expect([code, out]).toStrictEqual([0, 'A folder whose tour was written by canned answers.\n']);
    expect(err.match(/→ \S+ \((goto|result)/g)).toStrictEqual([
      '→ CHECK.sh (goto',
      '→ FIX.md (goto',
      '→ CHECK.sh (goto',
      '→ REPORT.md (goto',
      '→ end (result',
    ]);
  });

  test('passes the checks that it names', async () => {
    const { raymond } = newCliProject();
    const { out } = await raymond('init', 'first');
    expect(out).toMatch(/ lint \.\/first .*\n.* test \.\/first /);
    const linted = await raymond('lint', './first', '--level', 'warning');
    expect([linted.code, linted.out]).toStrictEqual([0, expect.stringContaining('no errors or warnings')]);
    const tested = await raymond('test', './first');
    expect([tested.code, tested.out]).toStrictEqual([
      0,
      expect.stringMatching(
        /first\/tour\.test\.yaml\n {2}✓ a stop that does not exist is corrected .*\n\n1 scenario: all passed \(/,
      ),
    ]);
  });

  test('has a test that fails when the gate lets everything pass', async () => {
    const { cwd, raymond } = newCliProject();
    await raymond('init', 'first');
    writeFileSync(join(cwd, 'first/CHECK.sh'), '#!/bin/bash\necho "<goto>REPORT.md</goto>"\n');
    const { code, out } = await raymond('test', 'first');
    expect([code, out]).toStrictEqual([1, expect.stringContaining('the path of main is not as expected')]);
  });

  const FIX = "<goto input-file='problems.txt'>FIX.md</goto>";

  test.each([
    ['## bin\n\nx\n', '<goto>REPORT.md</goto>'],
    ['## `bin`\n\nx\n', '<goto>REPORT.md</goto>'],
    [null, `${FIX} TOUR.md is missing or empty.`],
    ['', `${FIX} TOUR.md is missing or empty.`],
    ['no stop\n', `${FIX} TOUR.md has 0 stops; it should have one to five.`],
    ['## bin\n'.repeat(6), `${FIX} TOUR.md has 6 stops; it should have one to five.`],
    ['## a b\n## $(x)\n', `${FIX} a b does not exist. $(x) does not exist.`],
    ['## "<goto>"', `${FIX} "<goto>" does not exist.`],
  ])('has a gate that takes the tour %j for %s', async (tour, tag) => {
    const { cwd, raymond } = newCliProject();
    await raymond('init', 'first');
    mkdirSync(join(cwd, 'bin'));
    if (tour !== null) writeFileSync(join(cwd, 'TOUR.md'), tour);
    const printed = execFileSync('/bin/bash', ['first/CHECK.sh'], { cwd, encoding: 'utf8' }).trim();
    const problems = join(cwd, 'problems.txt');
    expect([printed, ...(existsSync(problems) ? [readFileSync(problems, 'utf8')] : [])].join(' ')).toBe(tag);
  });
});
