import { describe, expect, test } from 'vitest';
import { coverageIn, folderWith, wrongWith } from './rig.ts';

const script = (frontmatter: string, ...lines: readonly string[]): string =>
  ['#!/bin/bash', '# ---', ...frontmatter.split('\n').map((line) => `# ${line}`), '# ---', ...lines, ''].join('\n');
const END = 'Say what happened: {{error}} Answer with <result>…</result>.';
const ENDS = { 'ERROR.md': END, 'TIMEOUT.md': END, 'NO-TAG.md': END, 'LIMIT.md': END, 'STUCK.md': END, 'LONG.md': END };
const ON = 'on: { error: ERROR, timeout: TIMEOUT, no_tag: NO-TAG, max_visits: LIMIT, stuck: STUCK }';
const CHECK = script(`retry: 1\nmax_visits: 3\nstuck_after: 2\n${ON}`, 'make', 'echo "<goto>CHECK</goto>"');
const STATES = { ...ENDS, 'CHECK.sh': CHECK, 'START.md': 'Begin. <goto>CHECK</goto>' };

const HEAD = 'answers:\n  START: <goto>CHECK</goto>\n';
const ENDINGS = Object.keys(ENDS)
  .map((name) => `  ${name.slice(0, -3)}: <result>${name.slice(0, -3)}</result>\n`)
  .join('');

describe('a scenario lets a script fail', () => {
  test.each<[string, string, string]>([
    ['by its exit code, after a retry', '{ exit: 2, stderr: no such target }', 'ERROR'],
    ['by its timeout', '{ fail: timeout }', 'TIMEOUT'],
    ['by printing nothing', '{ text: "" }', 'NO-TAG'],
    [
      'by coming too often',
      '[{ text: <goto>CHECK</goto>, write: { a: "1" } }, { text: <goto>CHECK</goto>, write: { a: "2" } }, { text: <goto>CHECK</goto>, write: { a: "3" } }]',
      'LIMIT',
    ],
    ['by changing nothing', '<goto>CHECK</goto>', 'STUCK'],
  ])('%s', async (_, answer, ending) => {
    const scenario = `${HEAD}  CHECK: ${answer}\n${ENDINGS}expect: { result: ${ending}, status: completed, prompts: { ${ending}: { contains: CHECK.sh } } }\n`;
    const unused = Object.keys(ENDS).length - 1;
    const wrong = await wrongWith(STATES, scenario);
    expect(wrong.filter((each) => !each.includes('never'))).toStrictEqual([]);
    expect(wrong.length).toBeLessThanOrEqual(unused);
  });

  test('and refuses failures that a script cannot have', async () => {
    await expect(wrongWith(STATES, `${HEAD}  CHECK: { fail: refusal }\n`)).rejects.toThrow(
      '3:12: CHECK.sh is a script, which fails with `exit: 1` or `fail: timeout`',
    );
  });
});

test('a prompt that is too long continues in a new conversation', async () => {
  const states = { 'START.md': `---\non: { too_long: LONG }\n---\nGo. <result>…</result>`, 'LONG.md': END };
  const scenario =
    'answers:\n  START: { fail: prompt_too_long }\n  LONG: <result>short</result>\nexpect: { result: short, path: [START, LONG] }\n';
  expect(await wrongWith(states, scenario)).toStrictEqual([]);
});

test('guards count as transitions', async () => {
  const states = {
    'START.sh': script('on: { error: FIX, timeout: FIX }', 'make', 'echo "<result>made</result>"'),
    'FIX.md': 'Mend it. <result>…</result>',
    'a.test.yaml': 'answers: { START: { exit: 1 }, FIX: <result>x</result> }\n',
  };
  const { transitions, traffic } = await coverageIn(folderWith(states));
  expect(transitions.map(({ file, line, label, times }) => [file, line, label, times])).toStrictEqual([
    ['FIX.md', 1, 'result', 1],
    ['START.sh', 6, 'result', 0],
    ['START.sh', 3, 'on error FIX.md', 1],
    ['START.sh', 3, 'on timeout FIX.md', 0],
  ]);
  expect(traffic.transitionCounts).toContainEqual({ from: 'START.sh', kind: 'guard', to: 'FIX.md', times: 1 });
});
