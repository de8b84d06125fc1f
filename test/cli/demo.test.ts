import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { FakeTerminal } from '../render/terminal/live/fake-terminal.ts';
import { newCliProject } from './cli-project.ts';

const PROJECT = join(import.meta.dirname, '..', '..');

describe('raymond demo', () => {
  test('runs a whole workflow in its own folder, and prints what it made and the next steps', async () => {
    const project = newCliProject();
    const { code, out, err } = await project.raymond('demo', '--fast');
    expect(code).toBe(0);
    expect(readdirSync(project.cwd)).toStrictEqual(['raymond-demo']);
    const folder = join(project.cwd, 'raymond-demo');
    const made = ['CHANGELOG.md', 'README.md', 'plan.md', 'roman.mjs', 'roman.test.mjs', 'test-output.txt'];
    expect(readdirSync(folder)).toStrictEqual(['.raymond', ...made, 'workflow'].sort());
    for (const file of made) expect(err).toMatch(new RegExp(`^ {2}${file} +\\d+ lines$`, 'm'));
    expect(out).toContain('Try it: node roman.mjs 2026');
    // The list of all runs and the page know it.
    expect((await project.raymond('list', '--all')).out).toContain('demo');
    expect(execFileSync(process.execPath, [join(folder, 'roman.mjs'), '2026']).toString()).toBe('MMXXVI\n');
  });

  test.each([
    ['its name, where that is on the PATH', true],
    ['its file, where it is not', false],
  ])('prints the next commands with %s', async (_, isOnPath) => {
    const project = newCliProject();
    const bin = join(project.cwd, 'bin');
    mkdirSync(bin);
    if (isOnPath) writeFileSync(join(bin, 'raymond'), '');
    const places = (process.env.PATH ?? '').split(delimiter).filter((place) => !existsSync(join(place, 'raymond')));
    const env = { ...process.env, XDG_CONFIG_HOME: project.configHome, PATH: [bin, ...places].join(delimiter) };
    const mine = project.terminal(env);
    expect(await runCli(['demo', '--fast'], mine)).toBe(0);
    const [, raymond, again] =
      /^ {2}\(cd raymond-demo && (.*) logs last\) .*\n {2}(.*) init /m.exec(mine.output().err) ?? [];
    const main = join(PROJECT, 'dist', 'raymond.js');
    const fromThere = (folder: string): string =>
      [main, relative(folder, main)].toSorted((a, b) => a.length - b.length)[0] ?? '';
    expect([raymond, again]).toStrictEqual(
      isOnPath
        ? ['raymond', 'raymond']
        : [`node ${fromThere(join(project.cwd, 'raymond-demo'))}`, `node ${fromThere(project.cwd)}`],
    );
  });

  test('begins with a few words that fit on a narrow screen', async () => {
    const mine = newCliProject().terminal();
    expect(await runCli(['demo', '--fast'], { ...mine, screen: new FakeTerminal(40) })).toBe(0);
    const [words = ''] = mine.output().err.split('\n\n');
    expect(words).toContain('for Claude\n  Code, so nothing is paid.');
    expect(Math.max(...words.split('\n').map((line) => line.length))).toBeLessThan(40);
  });

  test('uses a call, tests that fail at first, a review that rejects the work, and two workers', async () => {
    const { err } = await newCliProject().raymond('demo', '--fast');
    const ways = err.match(/^\[main\w*\] \S+ → \S+ \(\w+/gm) ?? [];
    expect(ways.filter((line) => !line.startsWith('[main_'))).toStrictEqual([
      '[main] START.md → RESEARCH.md (call',
      '[main] RESEARCH.md → IMPLEMENT.md (result',
      '[main] IMPLEMENT.md → TEST.sh (goto',
      '[main] TEST.sh → FIX.md (goto',
      '[main] FIX.md → TEST.sh (goto',
      '[main] TEST.sh → REVIEW.md (function',
      '[main] REVIEW.md → DECIDE.md (result',
      '[main] DECIDE.md → TEST.sh (goto',
      '[main] TEST.sh → REVIEW.md (function',
      '[main] REVIEW.md → DECIDE.md (result',
      '[main] DECIDE.md → FINISH.md (fork',
      '[main] FINISH.md → end (result',
    ]);
    expect(ways.filter((line) => line.startsWith('[main_')).sort()).toStrictEqual([
      '[main_change2] CHANGES.md → end (result',
      '[main_docs1] DOCS.md → end (result',
    ]);
  });

  test('uses another folder if there was a demo before, or the one that is given', async () => {
    const project = newCliProject();
    mkdirSync(join(project.cwd, 'raymond-demo'));
    writeFileSync(join(project.cwd, 'raymond-demo', 'mine'), '');
    expect((await project.raymond('demo', '--fast')).code).toBe(0);
    expect((await project.raymond('demo', 'else/where/', '--fast')).code).toBe(0);
    expect(readdirSync(join(project.cwd, 'raymond-demo'))).toStrictEqual(['mine']);
    expect(readdirSync(project.cwd)).toStrictEqual(['else', 'raymond-demo', 'raymond-demo-2']);
    expect(readdirSync(join(project.cwd, 'else', 'where'))).toContain('roman.mjs');
  });

  test.each([
    ['a folder that is not empty', 'full', 'full is not empty: file'],
    ['a file', 'full/file', 'full/file cannot be written: there is a file where a folder should be'],
  ])('refuses %s and does not change it', async (_, dir, message) => {
    const project = newCliProject();
    mkdirSync(join(project.cwd, 'full'));
    writeFileSync(join(project.cwd, 'full', 'file'), '');
    const { code, err } = await project.raymond('demo', dir, '--fast');
    expect([code, err]).toStrictEqual([64, `raymond: ${message}\nName another folder: raymond demo DIR\n`]);
    expect(readdirSync(project.cwd, { recursive: true })).toStrictEqual(['full', 'full/file']);
  });

  test.skipIf(!existsSync('/proc'))('does not wait forever if no folder can be created', async () => {
    const { code, err } = await newCliProject().raymond('demo', '/proc/x/y', '--fast');
    expect([code, err]).toStrictEqual([
      64,
      expect.stringMatching(/^raymond: \/proc\/x\/y cannot be written: (no|perm)/),
    ]);
  });

  test('prints how to resume after a Ctrl-C, and can be resumed there', async () => {
    const project = newCliProject();
    const interrupting = (act: () => void) => {
      act();
      return () => {};
    };
    const mine = { ...project.terminal(), onInterrupt: interrupting };
    expect(await runCli(['demo', '--fast'], mine)).toBe(130);
    expect(mine.output().err).toMatch(/\nTo continue: cd raymond-demo && raymond resume demo-\S+\n$/);
    expect(await runCli(['resume', 'last'], { ...project.terminal(), cwd: join(project.cwd, 'raymond-demo') })).toBe(0);
  });

  test('takes between ten seconds and a minute in a terminal, by the times in its answers', () => {
    const answers = readFileSync(join(PROJECT, 'examples', 'demo', 'answers.yaml'), 'utf8');
    const seconds = [...answers.matchAll(/seconds: ([\d.]+)/g)].reduce((sum, [, each]) => sum + Number(each), 0);
    expect(seconds).toBeGreaterThan(10);
    expect(seconds).toBeLessThan(45);
  });

  test('is part of the package', () => {
    const { files } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as { files: string[] };
    expect(files).toContain('examples');
  });
});
