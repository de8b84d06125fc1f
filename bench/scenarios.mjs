// How many scenarios `raymond test` runs: six turns of prompts, with a reminder and a retry, in a process of its own.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMs, figure, inTurns, median } from './harness.mjs';

const SCENARIOS = 1000;

const FILES = {
  'START.md': `---
allowed_transitions:
  - { tag: goto, target: NAME.md }
---
List three colours in colours.txt, one per line. {{hint}}
`,
  'NAME.md': `---
allowed_transitions:
  - { tag: result }
  - { tag: goto, target: START.md }
---
Which is the most cheerful? Answer with <result>the colour</result>, or with <goto>START.md</goto>.
`,
};

const ANSWERS = `vars: { hint: Bright ones. }
answers:
  START.md:
    - { text: Two., write: { colours.txt: "red\\ngreen\\n" }, cost: 0.02 }
    - { text: Three., write: { colours.txt: "red\\ngreen\\nblue\\n" }, seconds: 4, cost: 0.01 }
  NAME.md:
    - <goto>START.md</goto>
    - turns: [{ fail: overloaded }, Green is., <result>green</result>]
scenarios:
`;

const EXPECT =
  '{ path: [START, NAME, START, NAME], result: green, cost: 0.03, prompts: { START: { contains: Bright } }, files: { colours.txt: { contains: blue } } }';

/** The start of the command is not counted: it is the same for one scenario and for a thousand. */
export async function measureScenarios({ command, workshop, quick }) {
  const count = quick ? SCENARIOS / 4 : SCENARIOS;
  const [many, one] = [newWorkflow(workshop(), count), newWorkflow(workshop(), 1)];
  const all = await inTurns(quick ? 2 : 5, {
    many: async () => time(command, many),
    one: async () => time(command, one),
  });
  const each = (what) => (median(all.many.map(what)) - median(all.one.map(what))) / (count - 1);
  const ms = each(({ wallMs }) => wallMs);
  return [
    figure('a scenario of six turns', ms, 'ms', 5),
    figure('  per second', 1000 / ms, '/s'),
    figure(
      '  in processor time',
      each((took) => took.cpuMs),
      'ms',
    ),
  ];
}

function newWorkflow(place, count) {
  const folder = join(place, 'workflow');
  mkdirSync(folder);
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);
  const names = Array.from({ length: count }, (_, at) => `  - { name: scenario ${at}, expect: ${EXPECT} }\n`);
  writeFileSync(join(folder, 'all.test.yaml'), ANSWERS + names.join(''));
  return folder;
}

function time(command, folder) {
  const [cpu, start] = [cpuMs(), performance.now()];
  execFileSync(process.execPath, [command, 'test', folder, '--json'], { stdio: ['ignore', 'ignore', 'inherit'] });
  return { wallMs: performance.now() - start, cpuMs: cpuMs() - cpu };
}
