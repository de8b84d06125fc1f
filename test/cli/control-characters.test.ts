import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import { formatJson } from '../../src/language/text/json.ts';
import { TransitionsLog } from '../../src/render/debug-files.ts';
import { Painter } from '../../src/render/terminal/live/painter.ts';
import { FakeClock } from '../render/terminal/live/fake-terminal.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

/** Writes to the clipboard, changes the color with a code of one byte, rings, turns the direction of text around. */
const HOSTILE = 'x\u001b]52;c;ZXZpbA==\u0007\u009b31m\u001b[31m\u202ey';
const RAW = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

const QUOTED = JSON.stringify(HOSTILE);
const STATE = `${HOSTILE}.md`;

/** A workflow that can be run, with hostile names. */
const RUNNABLE: Readonly<Record<string, string>> = {
  'START.sh': `#!/usr/bin/env bash
printf '%b' ${toPrintf(`${HOSTILE}\n`)} >&2
printf '%b' ${toPrintf(`<fork next="${STATE}" v="${HOSTILE}">${STATE}</fork>`)}
`,
  [STATE]: `---\ndescription: ${QUOTED}\nallowed_transitions: [{ tag: result }]\n---\nSay it.\n`,
};

/** A workflow with everything wrong that lint can quote. */
const BROKEN: Readonly<Record<string, string>> = {
  'START.md': `---\n${QUOTED}: 1\nmodel: [${QUOTED}]\neffort: ${QUOTED}\nallowed_tools: [${QUOTED}]\n---\nSay <goto>A</goto>\n`,
  [STATE]: `Say {{${HOSTILE}}} <${HOSTILE}> <goto ${HOSTILE}="1">${HOSTILE}</goto>\n`,
  'B.sh': `#!/bin/${HOSTILE}\nif [ "\nprintf '<goto>${HOSTILE}</goto>`,
  'broken.test.yaml': `workflow: .\ntests:\n  - name: ${QUOTED}\n    expect: { ${QUOTED}: 1 }\n`,
};

const FAILING_TEST = `tests:
  - name: ${QUOTED}
    answers: { ${JSON.stringify(STATE)}: ${JSON.stringify(`<result>${HOSTILE}</result>`)} }
    expect: { result: other, states: [${QUOTED}] }
`;

const ANSWERS = `answers:
  ${JSON.stringify(STATE)}: ${JSON.stringify(`${HOSTILE} <result>${HOSTILE}</result>`)}
`;

/** A text for printf in bash: every character that is not a letter is written as its bytes. */
function toPrintf(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`);
  return `'${bytes.join('')}'`;
}

function newProjectWith(files: Readonly<Record<string, string>>): CliProject {
  const project = newCliProject();
  mkdirSync(join(project.cwd, HOSTILE));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project.cwd, HOSTILE, name), text);
  writeFileSync(join(project.cwd, 'answers.yaml'), ANSWERS);
  return project;
}

/** Runs a command with its output in a pipe, then on a screen, and returns all that it has printed. */
async function printedBy(project: CliProject, argv: readonly string[]): Promise<string> {
  let text = '';
  const print = (piece: string): void => {
    text += piece;
  };
  for (const outIsScreen of [false, true]) {
    await runCli(argv, { ...project.terminal(), out: print, err: print, outIsScreen });
  }
  return text;
}

describe('no control character of a hostile workflow is printed by raymond', () => {
  test.each(
    [
      ['lint', HOSTILE],
      ['lint', HOSTILE, '--json'],
      ['lint', HOSTILE, '--format', 'github'],
      ['graph', HOSTILE],
      ['graph', HOSTILE, '--format', 'svg'],
      ['graph', HOSTILE, '--format', 'html'],
      ['test', HOSTILE],
      ['test', HOSTILE, '--json'],
      ['run', HOSTILE],
      ['run', `${HOSTILE}/B.sh`],
      ['run', 'none', '--name', HOSTILE, '--dir', HOSTILE],
      ['run', HOSTILE, '--var', `${HOSTILE}=1`],
      ['run', HOSTILE, `--${HOSTILE}`],
      ['run', HOSTILE, '--run-id', HOSTILE],
      ['run', HOSTILE, '--agent', `replay:${HOSTILE}`],
      ['run', HOSTILE, '--log-file', `${HOSTILE}/${HOSTILE}/x`],
      ['resume', HOSTILE],
      ['status', HOSTILE],
      ['logs', HOSTILE],
      ['stop', HOSTILE],
      ['init', HOSTILE],
      ['trust', '--revoke', HOSTILE],
      [HOSTILE, HOSTILE],
    ].map((argv) => ({ argv, command: argv.join(' ').replaceAll(HOSTILE, 'HOSTILE') })),
  )('$command', async ({ argv }) => {
    const text = await printedBy(newProjectWith(BROKEN), argv);
    expect(text).not.toBe('');
    expect(text).not.toMatch(RAW);
  });

  test('run, nor by what shows the run afterwards', async () => {
    const project = newProjectWith(RUNNABLE);
    writeFileSync(join(project.cwd, HOSTILE, 'fails.test.yaml'), FAILING_TEST);
    const run = ['run', HOSTILE, '--agent', 'replay:answers.yaml', '--log-file', 'events.log'];
    expect((await project.raymond(...run, '--run-id', 'one', '--name', HOSTILE, '--json')).code).toBe(0);
    const commands = [
      [...run, '--json'],
      [...run, '--events', '--verbose'],
      ['list'],
      ['list', '--json'],
      ['status', 'one'],
      ['status', 'one', '--json'],
      ['logs', 'one'],
      ['graph', 'one'],
      ['graph', 'one', '--format', 'html'],
      ['resume', 'one', '--json'],
      ['recover'],
      ['stop', 'one'],
      ['test', HOSTILE],
      ['test', HOSTILE, '--json'],
      ['test', '--record', 'one', '--output', 'recorded.yaml'],
    ];
    for (const argv of commands) {
      const text = await printedBy(project, argv);
      expect(text, argv.join(' ')).not.toBe('');
      expect(text.match(RAW), argv.join(' ')).toBeNull();
    }
  });
});

test('files for people have no control characters in their names and texts', async () => {
  const project = newProjectWith(RUNNABLE);
  await project.raymond(
    'run',
    HOSTILE,
    '--agent',
    'replay:answers.yaml',
    '--log-file',
    'events.log',
    '--run-id',
    'one',
  );
  const graphs = ['graph.mmd', 'graph.svg', 'graph.html'];
  for (const file of graphs) await project.raymond('graph', 'one', '--output', file);
  const debugRoot = join('.raymond', 'debug');
  const debugFolder = join(debugRoot, readdirSync(join(project.cwd, debugRoot))[0] ?? '');
  const names = readdirSync(join(project.cwd, debugFolder));
  expect(names.length).toBeGreaterThan(2);
  expect(names.join()).not.toMatch(RAW);
  for (const file of [...graphs, 'events.log', join(debugFolder, 'transitions.log')]) {
    expect(readFileSync(join(project.cwd, file), 'utf8').match(RAW), file).toBeNull();
  }
});

test('the live view passes no control characters on, neither in lines nor in the title', () => {
  let written = '';
  const screen = {
    write: (text: string) => {
      written += text;
    },
    size: () => ({ columns: 200, rows: 24 }),
    color: true,
    onResize: () => () => {},
    onLeave: () => () => {},
  };
  const clock = new FakeClock();
  const painter = new Painter(screen, clock, () => ({ lines: [`block ${HOSTILE}`], title: `title ${HOSTILE}` }));
  painter.print(`line ${HOSTILE}`);
  clock.advance(100);
  painter.close();
  for (const shown of ['block x', 'title x', 'line x']) expect(written).toContain(shown);
  for (const control of ['\u001b]52', '\u009b', '\u202e']) expect(written).not.toContain(control);
});

test('results and recorded output reach other programs unchanged, but not a screen', async () => {
  const project = newProjectWith(RUNNABLE);
  const run = ['run', HOSTILE, '--agent', 'replay:answers.yaml', '--quiet'];
  const piped = await project.raymond(...run, '--run-id', 'one');
  expect(piped.out).toContain(HOSTILE);
  expect((await project.raymond('logs', 'one', '--raw')).out).toContain(HOSTILE);
  for (const argv of [run, ['logs', 'one', '--raw']]) {
    const terminal = project.terminal();
    await runCli(argv, { ...terminal, outIsScreen: true });
    expect(terminal.output().out).not.toMatch(RAW);
  }
});

test('an error that quotes a key of a config file controls no terminal', async () => {
  const project = newCliProject();
  mkdirSync(join(project.cwd, '.raymond'));
  writeFileSync(join(project.cwd, '.raymond', 'config.toml'), `[raymond]\n${QUOTED} = 1\n`);
  const { code, err } = await project.raymond('config');
  expect(code).toBe(64);
  expect(err).toContain('there is no option');
  expect(err).not.toMatch(RAW);
});

test('transitions.log has no control characters from names of states or messages', () => {
  const event = { kind: 'agent_failed', at: 0, agent: 'main', state: `${HOSTILE}.md`, message: HOSTILE } as const;
  expect(new TransitionsLog(0).formatEntry(event)).not.toMatch(RAW);
});

test('JSON escapes every control character and means the same', () => {
  const text = formatJson({ [HOSTILE]: HOSTILE }, 2);
  expect(text).not.toMatch(RAW);
  expect(JSON.parse(text)).toStrictEqual({ [HOSTILE]: HOSTILE });
});
