import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { resumeRun } from '../../src/app/resume.ts';
import { runWorkflow } from '../../src/app/start.ts';
import type { Event } from '../../src/core/run/event.ts';
import { hasOwnName } from '../../src/language/environment-names.ts';
import { addStateChecksum } from '../../src/storage/run-file.ts';

/** Prints its environment to a file, and starts the programs that obey variables. */
const WORKER = `#!/bin/bash
env -0 > "$OUT/env"
set -x 2>/dev/null
date > /dev/null
if command -v perl > /dev/null; then perl -e 1; fi
if command -v python3 > /dev/null; then python3 -c 'import json'; fi
if command -v git > /dev/null; then git init -q "$OUT/repo"; git -C "$OUT/repo" status > /dev/null; fi
bash -c true
echo "<result>done</result>"
`;

interface Played {
  readonly env: Readonly<Record<string, string>>;
  readonly warnings: readonly string[];
  readonly ran: boolean;
  readonly failures: readonly string[];
}

/** Runs a worker that this fork started, as the answer of a prompt or as the output of a script. */
async function playFork(
  by: 'prompt' | 'script',
  attributes: (dir: string) => string,
  variables: (dir: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<Played> {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-environment-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(cwd, 'wf'));
  const evil = `touch ${cwd}/ran`;
  const dir = join(cwd, 'evil');
  mkdirSync(dir);
  writeFileSync(join(dir, 'evil.sh'), `#!/bin/bash\n${evil}\n`, { mode: 0o755 });
  writeFileSync(join(dir, 'Evil.pm'), `system("${evil}"); 1;\n`);
  writeFileSync(join(dir, 'json.py'), `import os\nos.system("${evil}")\n`);
  const fork = `<fork next="END" ${attributes(dir)}>WORKER</fork>`;
  writeFileSync(join(cwd, 'fork'), fork);
  if (by === 'script') writeFileSync(join(cwd, 'wf', 'START.sh'), `cat ${cwd}/fork\n`);
  else writeFileSync(join(cwd, 'wf', 'START.md'), 'Fork.\n');
  writeFileSync(join(cwd, 'wf', 'END.sh'), 'echo "<result>end</result>"\n');
  writeFileSync(join(cwd, 'wf', 'WORKER.sh'), WORKER);
  writeFileSync(join(cwd, 'answers.json'), JSON.stringify({ answers: by === 'prompt' ? { START: [fork, fork] } : {} }));
  const events: Event[] = [];
  const running = await runWorkflow('wf', {
    cwd,
    env: { ...process.env, OUT: cwd },
    options: { agent: `replay:${join(cwd, 'answers.json')}`, variables: variables(dir) },
    observe: (event) => events.push(event),
  });
  await running.finished;
  const file = join(cwd, 'env');
  const pairs = (existsSync(file) ? readFileSync(file, 'utf8') : '').split('\0').filter((pair) => pair !== '');
  return {
    env: Object.fromEntries(pairs.map((pair) => [pair.split('=', 1)[0] ?? '', pair.slice(pair.indexOf('=') + 1)])),
    warnings: events.flatMap((event) => (event.kind === 'warning' ? event.message : [])),
    ran: existsSync(join(cwd, 'ran')),
    failures: events.flatMap((event) => (event.kind === 'agent_failed' ? event.message : [])),
  };
}

const ATTACKS: readonly (readonly [string, (dir: string) => Readonly<Record<string, string>>])[] = [
  ['a function of bash', (dir) => ({ 'BASH_FUNC_date%%': `() { ${dir}/evil.sh; }` })],
  ['SHELLOPTS and PS4', (dir) => ({ SHELLOPTS: 'xtrace', PS4: `$(${dir}/evil.sh)` })],
  ['PERL5OPT', (dir) => ({ PERL5OPT: `-I${dir} -MEvil` })],
  ['PERL5LIB', (dir) => ({ PERL5LIB: dir })],
  [
    'GIT_CONFIG_*',
    (dir) => ({ GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsmonitor', GIT_CONFIG_VALUE_0: `${dir}/evil.sh` }),
  ],
  ['PYTHONPATH', (dir) => ({ PYTHONPATH: dir })],
  ['PS4 alone', (dir) => ({ PS4: `$(${dir}/evil.sh)` })],
];

const asAttributes = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `${name}="${value}"`)
    .join(' ');

for (const [name, attack] of ATTACKS) {
  test.each(['prompt', 'script'] as const)(`${name} runs nothing from the fork of a %s`, async (by) => {
    const { ran, env } = await playFork(by, (dir) => asAttributes(attack(dir)));
    expect(ran).toBe(false);
    for (const variable of Object.keys(attack(''))) {
      // Bash itself sets PS4 and SHELLOPTS, but does not export them.
      expect(env[variable]).toBe(process.env[variable]);
    }
    expect(env.RAYMOND_AGENT_ID).toBe('main_worker1');
  });

  test(`${name} runs nothing as a variable of the run`, async () => {
    const { ran, env } = await playFork('script', () => '', attack);
    expect(ran).toBe(false);
    expect(Object.keys(attack('')).filter((variable) => env[variable] !== process.env[variable])).toStrictEqual([]);
  });
}

test("a model's fork sets names in lower case; every name is there with a prefix", async () => {
  const { env, warnings } = await playFork(
    'prompt',
    () => 'item="a b" http_proxy="p" TOPIC="sea" npm_config_x="n" a-b="c"',
  );
  const { item, http_proxy, TOPIC, npm_config_x } = env;
  expect({ item, http_proxy, TOPIC, npm_config_x }).toStrictEqual({
    item: 'a b',
    http_proxy: process.env.http_proxy,
    TOPIC: undefined,
    npm_config_x: process.env.npm_config_x,
  });
  const prefixed = Object.entries(env).filter(([name]) => name.startsWith('RAYMOND_VAR_'));
  expect(Object.fromEntries(prefixed)).toStrictEqual({
    RAYMOND_VAR_item: 'a b',
    RAYMOND_VAR_http_proxy: 'p',
    RAYMOND_VAR_TOPIC: 'sea',
    RAYMOND_VAR_npm_config_x: 'n',
  });
  expect(Object.keys(env).filter((name) => name.includes('a-b'))).toStrictEqual([]);
  expect(warnings).toStrictEqual([
    'scripts get the variables `http_proxy`, `TOPIC`, `npm_config_x` as $RAYMOND_VAR_http_proxy, $RAYMOND_VAR_TOPIC, $RAYMOND_VAR_npm_config_x, not as $http_proxy, $TOPIC, $npm_config_x',
    'scripts do not get the variable `a-b`: only identifiers can be names in an environment',
  ]);
});

test("a script's fork sets any name that no program obeys", async () => {
  const { env, warnings } = await playFork('script', () => 'item="a" TOPIC="sea" http_proxy="p" GIT_DIR="x"');
  const { item, TOPIC, http_proxy, GIT_DIR, RAYMOND_VAR_TOPIC, RAYMOND_VAR_GIT_DIR } = env;
  expect({ item, TOPIC, http_proxy, GIT_DIR, RAYMOND_VAR_TOPIC, RAYMOND_VAR_GIT_DIR }).toStrictEqual({
    item: 'a',
    TOPIC: 'sea',
    http_proxy: 'p',
    GIT_DIR: process.env.GIT_DIR,
    RAYMOND_VAR_TOPIC: 'sea',
    RAYMOND_VAR_GIT_DIR: 'x',
  });
  expect(warnings).toStrictEqual(['scripts get the variable `GIT_DIR` as $RAYMOND_VAR_GIT_DIR, not as $GIT_DIR']);
});

test("a variable of the run keeps its name, and a model's fork cannot take it away", async () => {
  const { env, warnings } = await playFork(
    'prompt',
    () => 'DEPLOY="yes"',
    () => ({ DEPLOY: 'no', 'no-name': 'x' }),
  );
  expect([env.DEPLOY, env.RAYMOND_VAR_DEPLOY]).toStrictEqual(['no', 'yes']);
  expect(warnings).toStrictEqual([
    'scripts do not get the variable `no-name`: only identifiers can be names in an environment',
    'scripts get the variable `DEPLOY` as $RAYMOND_VAR_DEPLOY, not as $DEPLOY',
  ]);
});

test('a worker of an older state file may have been forked by a model', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'raymond-environment-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));
  mkdirSync(join(cwd, 'wf'));
  writeFileSync(join(cwd, 'wf', 'START.sh'), 'echo "<fork next=END item=i TOPIC=t>WORKER</fork>"\n');
  writeFileSync(join(cwd, 'wf', 'END.sh'), 'echo "<result>end</result>"\n');
  writeFileSync(join(cwd, 'wf', 'WORKER.sh'), '[ -e go ] || exit 1; echo "<result>$item-$TOPIC</result>"\n');
  const { id, agents } = await (await runWorkflow('wf', { cwd })).finished;
  expect(agents.map(({ forkedBy }) => forkedBy)).toStrictEqual([null, 'script']);
  const file = join(cwd, '.raymond', 'state', `${id}.json`);
  const [saved = ''] = readFileSync(file, 'utf8').split(',\n  "checksum"');
  writeFileSync(file, addStateChecksum(`${saved.replace(/^ +"(forkedBy|startFolder)".*\n/gm, '')}\n}`));
  writeFileSync(join(cwd, 'go'), '');
  const resumed = await (await resumeRun(id, { cwd, retry: true })).finished;
  expect(resumed.agents[1]?.phase).toStrictEqual({ kind: 'ended', result: 'i-' });
});

test.each(['LD_PRELOAD', 'path', 'NODE_PATH', 'bash_env'])('%s is no name of its own on Windows', (name) => {
  expect(hasOwnName(name, 'script', 'windows')).toBe(false);
});
