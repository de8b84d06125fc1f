import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMAND_TABLE } from '../../src/cli/command-table.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');

/** A project with a workflow `first` and the runs first-1 and first-2. */
async function newProject(): Promise<CliProject> {
  const project = newCliProject();
  mkdirSync(join(project.cwd, 'first'));
  writeFileSync(join(project.cwd, 'first', 'START.sh'), 'echo "<result>r</result>"');
  for (const id of ['first-1', 'first-2']) await project.raymond('first', '--quiet', '--run-id', id);
  return project;
}

describe('raymond completion words', () => {
  const COMMANDS = COMMAND_TABLE.map(({ name }) => name);
  test.each<[string, readonly string[], string, readonly string[]]>([
    ['commands and files at first', [''], 'files', COMMANDS],
    ['the commands that begin so', ['st'], 'files', COMMANDS.filter((name) => name.startsWith('st'))],
    ['flags of a command', ['logs', '--f'], 'words', ['--follow']],
    ['flags of run for a workflow', ['first', '--bud'], 'words', ['--budget']],
    [
      'flags that every command has',
      ['list', '-'],
      'words',
      ['--all', '--json', '--database', '--no-database', '-C', '--help'],
    ],
    ['runs', ['status', 'first'], 'words', ['first-1', 'first-2']],
    ['runs, also by an alias of a word', ['resume', 'la'], 'words', ['last']],
    ['runs after a flag', ['test', '--record', 'first-2'], 'words', ['first-2']],
    ['runs of another folder', ['-C', 'first', 'status', 'first-'], 'words', ['first-1', 'first-2']],
    ['files after -C', ['-C', 'fi'], 'files', []],
    ['the words of an option', ['first', '--effort', 'h'], 'words', ['high']],
    ['permission modes', ['first', '--permission-mode', 'pl'], 'words', ['plan']],
    ['the words of a flag', ['costs', '--by', 'm'], 'words', ['model']],
    ['statuses', ['prune', '--status', 'c'], 'words', ['completed', 'crashed']],
    ['levels', ['lint', '--level', ''], 'words', ['error', 'warning', 'info']],
    ['formats', ['graph', '--format', 's'], 'words', ['svg']],
    ['states of the last run', ['logs', '--state', ''], 'words', ['START.sh']],
    ['states of a run', ['logs', '--tail', '5', 'first-1', '--state', 'ST'], 'words', ['START.sh']],
    ['agents of a run', ['logs', 'first-1', '--agent', ''], 'words', ['main']],
    ['nothing for a run that is none', ['logs', 'third', '--state', ''], 'words', []],
    ['nothing for a number', ['first', '--budget', ''], 'words', []],
    ['files for a file', ['first', '--log-file', ''], 'files', []],
    ['workflows, as files', ['lint', ''], 'files', []],
    ['shells', ['completion', 'z'], 'words', ['zsh']],
  ])('offers %s', async (_, words, kind, expected) => {
    const { raymond } = await newProject();
    const { code, out } = await raymond('completion', 'words', '--', ...words);
    const [first, ...lines] = out.trimEnd().split('\n');
    expect([code, first, lines.map((line) => line.split('\t')[0])]).toStrictEqual([0, kind, expected]);
  });

  test('asks for the shell', async () => {
    const { code, err } = await newCliProject().raymond('completion');
    expect([code, err]).toStrictEqual([
      64,
      expect.stringContaining('name your shell: raymond completion bash, zsh or fish'),
    ]);
  });
});

test.each(['raymond', 'ray'])('bash completes %s with the script', async (program) => {
  const { cwd } = await newProject();
  mkdirSync(join(cwd, 'bin'));
  for (const name of ['raymond', 'ray']) {
    writeFileSync(join(cwd, 'bin', name), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
    chmodSync(join(cwd, 'bin', name), 0o755);
  }
  const complete = (...words: readonly string[]): readonly string[] => {
    const script = `eval "$(raymond completion bash)"
      COMP_WORDS=(${program} "$@"); COMP_CWORD=$#
      $(complete -p ${program} | grep -o '_raymond') && printf '%s\\n' "\${COMPREPLY[@]}"`;
    const env = { ...process.env, PATH: `${join(cwd, 'bin')}${delimiter}${process.env.PATH}` };
    return execFileSync('bash', ['-c', script, 'bash', ...words], { cwd, env, encoding: 'utf8' })
      .trimEnd()
      .split('\n');
  };
  expect(complete('fi')).toStrictEqual(['first']);
  expect(complete('first', '--perm')).toStrictEqual(['--permission-mode']);
  expect(complete('logs', 'first-')).toStrictEqual(['first-1', 'first-2']);
  expect(complete('lint', 'first/')).toStrictEqual(['first/START.sh']);
});
