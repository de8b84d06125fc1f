import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/config/config.ts';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { parsePrompt } from '../../src/workflow/prompt-file.ts';
import { checkArguments, countRaymondLines, raymondCalls } from './calls.ts';
import type { Block } from './page.ts';
import { PROJECT } from './pages.ts';

/** Checks a block of each kind without running it, and throws if something is wrong. */
export const KINDS: Readonly<Record<string, (block: Block) => unknown>> = {
  /** Those without a second word are run, which checks more. */
  sh: ({ name, text }) => name !== '' && checkCommands(text),
  console: ({ text }) => checkCommands(commandsIn(text)),
  '': ({ text }) => checkCommands(commandsIn(text)),
  text: () => {},
  js: () => {},
  ts: () => {},
  bash: ({ text }) => expect(spawnSync('/bin/bash', ['-n'], { input: text })).toMatchObject({ status: 0 }),
  markdown: ({ text }) => expect(parsePrompt('PROMPT.md', text, 'unix').findings).toStrictEqual([]),
  toml: ({ text }) => parseConfig(text, 'config.toml'),
  yaml: ({ text }) => readScenario('answers.yaml', text, { files: statesIn(text), platform: 'unix' }),
  json: ({ text }) => JSON.parse(text),
  ini: ({ text }) => checkCommands([...text.matchAll(/^Exec\w+=(.*)$/gm)].map(([, command]) => command).join('\n')),
  crontab: ({ text }) => checkCommands(text.replace(/^(@\w+|\S+(\s+\S+){4})\s+/gm, '')),
};

/** Checks that Raymond accepts the arguments and that npm has the scripts, without running anything. */
async function checkCommands(script: string): Promise<void> {
  expect(spawnSync('/bin/bash', ['-n'], { input: script })).toMatchObject({ status: 0 });
  const calls = raymondCalls(script.replace(/(?<=^|\s)\S*\/raymond(?=\s)/gm, 'raymond'));
  expect(calls.length).toBeGreaterThanOrEqual(countRaymondLines(script));
  for (const argv of calls) await checkArguments(argv);
  const called = [...script.matchAll(/\bnpm (?:run (?:--silent )?)?(\S+)/g)].map(([, name]) => name);
  expect(called.filter((name = '') => !NPM.has(name))).toStrictEqual([]);
}

const SCRIPTS = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')).scripts;
const NPM: ReadonlySet<string> = new Set(['ci', 'link', 'install', ...Object.keys(SCRIPTS)]);

/** The lines of a block that are commands; the others are output. */
const commandsIn = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /^([A-Z_]+=\S+ )?(npm|raymond) /.test(line))
    .join('\n');

/** The states that a scenario file names. Running it shows whether its workflow has them. */
function statesIn(text: string): readonly string[] {
  const { scenarios = [], ...only } = parse(text) ?? {};
  const names = [only, ...scenarios].flatMap(({ answers = {}, expect: expectations = {} }) => {
    const { path = [], prompts = {}, ...others } = expectations;
    const visited = Array.isArray(path) ? path : Object.values(path).flat();
    const perState = [others.cost, others.turns, others.reminders].filter((value) => typeof value === 'object');
    return [...Object.keys(answers), ...visited, ...[prompts, ...perState].flatMap((each) => Object.keys(each))];
  });
  const files = names.filter((name) => /\.(md|sh)$/.test(name));
  const hasFile = (name: string) => files.some((file) => file.slice(0, -3) === name);
  return [...files, ...names.filter((name) => !files.includes(name) && !hasFile(name)).map((name) => `${name}.md`)];
}
