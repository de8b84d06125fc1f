import { describe, expect, test } from 'vitest';
import { COMMAND_TABLE } from '../../src/cli/command-table.ts';
import { runCli } from '../../src/cli/program.ts';
import { FakeTerminal } from '../render/terminal/live/fake-terminal.ts';
import { newCliProject } from './cli-project.ts';

const PAGES = [['--help'], ...COMMAND_TABLE.map(({ name }) => [name, '--help'])];

async function helpAt(columns: number, argv: readonly string[]): Promise<string> {
  const terminal = newCliProject().terminal();
  expect(await runCli(argv, { ...terminal, screen: new FakeTerminal(columns) })).toBe(0);
  return terminal.output().out;
}

describe.each([40, 60, 80, 100])('in a terminal of %i columns', (columns) => {
  test.each(PAGES)('the help of %s fits, except for commands, which are to be copied', async (...argv) => {
    const out = await helpAt(
      columns,
      argv.filter((word) => word !== undefined),
    );
    const lines = out.split('\n').filter((line) => !/^( {2}|Usage: )raymond /.test(line));
    expect(lines.filter((line) => line.length > columns)).toStrictEqual([]);
  });
});

test('the description of an option is below it if there is not enough space beside it', async () => {
  expect(await helpAt(40, ['lint', '--help'])).toContain(
    ['  --level <level>', '      show only findings of this level', '      or worse: error, warning or info'].join(
      '\n',
    ),
  );
  expect(await helpAt(60, ['lint', '--help'])).toContain(
    [
      '  --level <level>        show only findings of this level or',
      `${' '.repeat(25)}worse: error, warning or info`,
    ].join('\n'),
  );
});

test.each([
  ['run', [0, 1, 2, 3, 4, 64, 65, 70, 130]],
  ['lint', [0, 1, 64, 65]],
  ['test', [0, 1, 64, 65, 130]],
  ['graph', [0, 64, 65]],
  ['doctor', [0, 64]],
])('the help of %s lists its exit codes: %j', async (name, codes) => {
  const [, list = ''] = (await helpAt(100, [name, '--help'])).split('\nExit codes:\n');
  expect(list.split('\n').flatMap((line) => /^ *(\d+) {2}\S/.exec(line)?.[1] ?? [])).toStrictEqual(codes.map(String));
});
