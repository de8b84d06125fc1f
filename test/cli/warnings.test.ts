/** What was denied or odd in a run is told in every view at its end, and afterwards. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

const ADVICE =
  'to permit it, put `allowed_tools: ["Bash(npm test)"]` into WORK.md, or choose another --permission-mode';
const LINE = `warning: Bash(npm test) was not permitted; ${ADVICE} (3 times by 3 agents)`;

function project(work: string) {
  const cli = newCliProject();
  const forks = ['a', 'b', 'c'].map((item) => `echo '<fork next="END" item="${item}">WORK</fork>'`);
  writeWorkflow(cli.cwd, 'wf', {
    'START.sh': forks.join('\n'),
    'WORK.md': 'Test {{item}}.',
    'END.sh': "echo '<result>over</result>'",
  });
  writeFileSync(
    join(cli.cwd, 'answers.yaml'),
    `answers:\n  WORK: { text: "${work}", deny: [Bash npm test], cost: 0.1 }\n`,
  );
  const run = (...more: string[]) => cli.raymond('wf', '--run-id', 'r1', '--agent', 'replay:answers.yaml', ...more);
  return { ...cli, run };
}

describe('a run with denied tools', () => {
  test('says so once in its summary, and in its status', async () => {
    const { run, raymond } = project('<result>done</result>');
    const { code, err } = await run();
    expect(code).toBe(0);
    expect(err.split('\n').filter((line) => line.includes('3 agents'))).toStrictEqual([LINE]);
    expect((await raymond('status')).out).toContain(`\n${LINE}\n`);
  });

  test('says so even if it is quiet', async () => {
    const { run } = project('<result>done</result>');
    expect((await run('--quiet')).err).toBe(`${LINE}\n`);
  });

  test('says so in its JSON documents', async () => {
    const { run, raymond } = project('<result>done</result>');
    const warnings = [
      {
        kind: 'denied',
        state: 'WORK.md',
        message: `Bash(npm test) was not permitted; ${ADVICE}`,
        count: 3,
        agent_count: 3,
        last_at: expect.any(String),
      },
    ];
    expect(JSON.parse((await run('--json', '--quiet')).out)).toMatchObject({ warnings, canned_usd: 0.3 });
    expect(JSON.parse((await raymond('status', '--json')).out)).toMatchObject({ warnings });
  });

  test('that fails because of them says that, and not that a tag is missing', async () => {
    const { run, raymond } = project('I could not test it.');
    const { code, err } = await run('--quiet');
    expect(code).toBe(1);
    const reason = `failed: WORK.md: no valid answer after 1 reminder; Bash(npm test) was not permitted: ${ADVICE}`;
    expect(err).toContain(reason);
    expect(err).not.toContain('it contains no tag');
    expect((await raymond('status')).out).toContain(reason);
  });
});

test('what went wrong around a run is told afterwards, too', async () => {
  const { run, raymond, cwd } = project('<result>done</result>');
  mkdirSync(join(cwd, '.raymond'));
  writeFileSync(join(cwd, '.raymond', 'debug'), 'not a folder');
  const line = /^warning: START\.sh: debug files cannot be written: /m;
  expect((await run('--quiet')).err).toMatch(line);
  expect((await raymond('status')).out).toMatch(line);
});

test('costs of canned answers are not shown as money', async () => {
  const { run, raymond } = project('<result>done</result>');
  const { err } = await run();
  expect(err).toContain('wf, with canned answers: nothing is paid\n');
  expect(err).toMatch(/^Completed in .*, \$0\.30 of \$10\.00 \(canned\)\.$/m);
  expect((await raymond('status')).out).toMatch(/^cost +\$0\.30 of \$10\.00 \(canned\)$/m);
  expect((await raymond('list')).out).toMatch(/\$0\.30 \(canned\)/);
});
