import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { layoutOf } from '../../src/disk/layout.ts';
import { addStateChecksum } from '../../src/storage/run-file.ts';
import { newCliProject } from './cli-project.ts';
import { startOwnerIn, waiting, writeWorkflow } from './owners.ts';

/*
 * A night: workers that succeed, fail, are denied a tool, meet a usage limit or are at work when the machine goes down. In the
 * morning there are only `list`, `status` and `recover`.
 */

const KINDS = ['ok', 'denied', 'script', 'refused', 'limit', 'slow'];
const WORKERS = 24;

const forks = Array.from({ length: WORKERS }, (_, at) => {
  return `<fork next="END" item="${at}" kind="${KINDS[at % KINDS.length]}">WORK</fork>`;
});

const ANSWERS = `answers:
  WORK.md:
    - { when: { kind: denied }, turns: [{ text: no, deny: [Bash npm install], cost: 0.02 }, { text: no }, { text: no }, { text: no }] }
    - { when: { kind: refused }, fail: refusal }
    - { when: { kind: limit }, turns: [{ fail: usage_limit, resets_in: 1 }, { text: <goto>BUILD.sh</goto>, cost: 0.01 }] }
    - { text: <goto>BUILD.sh</goto>, cost: 0.01 }
  CHECK.md: { text: "<result>checked {{item}}</result>", cost: 0.01 }
`;

/** As after a reboot: no process is left, and the machine has another boot id. */
function reboot(root: string): void {
  const { stateFile, runFolder } = layoutOf(root);
  const { checksum: _, ...state } = JSON.parse(readFileSync(stateFile('night'), 'utf8'));
  writeFileSync(stateFile('night'), addStateChecksum(JSON.stringify({ ...state, bootId: 'before' }, null, 2)));
  for (const name of readdirSync(runFolder('night')).filter((each) => each.startsWith('owner.'))) {
    const file = join(runFolder('night'), name);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"bootId":"[^"]*"/, '"bootId":"before"'));
  }
}

test('in the morning, status tells what became of each worker and what to do', async () => {
  const project = newCliProject();
  const { cwd, raymond } = project;
  writeWorkflow(cwd, 'wf', {
    'START.sh': `cat <<'EOF'\n${forks.join('\n')}\nEOF\n`,
    'END.sh': 'echo "<result>forked</result>"',
    'WORK.md': 'Work on {{item}}.',
    'BUILD.sh': `case $kind in script) echo 'no compiler' >&2; exit 1;; slow) ${waiting('', 'here-$item')};; esac; echo '<goto>CHECK</goto>'`,
    'CHECK.md': 'Check {{item}}.',
  });
  writeFileSync(join(cwd, 'answers.yaml'), ANSWERS);
  const owner = startOwnerIn(project, 'wf', '--agent', 'replay:answers.yaml', '--run-id', 'night');
  const statuses = async (): Promise<Record<string, number>> => {
    const { agents } = JSON.parse((await raymond('status', 'night', '--json')).out) as { agents: { status: string }[] };
    return Object.fromEntries(
      [...new Set(agents.map(({ status }) => status))].map((each) => [
        each,
        agents.filter(({ status }) => status === each).length,
      ]),
    );
  };
  await vi.waitUntil(() => existsSync(join(cwd, '.raymond/state/night.json')), { timeout: 20_000 });
  // All but the slow ones are done.
  await vi.waitUntil(async () => (await statuses()).ended === 9 && (await statuses()).failed === 12, {
    timeout: 60_000,
    interval: 200,
  });
  owner.signal('SIGKILL');
  await owner.exited;
  const turns = join(cwd, '.raymond/runs/night/turns');
  for (const name of readdirSync(turns).filter((each) => each.endsWith('-BUILD'))) {
    const [start = '', code = ''] = readFileSync(join(turns, name, 'started'), 'utf8').split('\n');
    if (code === '') process.kill(-Number.parseInt(start, 10), 'SIGKILL');
  }
  reboot(join(cwd, '.raymond'));

  const list = await raymond('list');
  expect(list.out).toMatch(/\nnight +wf +crashed +4 live, 9 ended, 12 failed +/);
  expect(list.err).toBe('The process of night has died. To continue: raymond resume night\n');
  const crashed = (await raymond('status', 'night')).out;
  expect(crashed).toContain(
    `Its process ${owner.pid} is gone. 4 turns were under way; a resume finds out what came of them.`,
  );
  const failures = [
    /\n\[main_work2 item=1, main_work8 item=7 and 2 more\] failed: WORK\.md: no valid answer after 1 reminder; Bash\(npm install\) was not permitted/,
    /\n\[main_work3 item=2, main_work9 item=8 and 2 more\] failed: BUILD\.sh: the script ended with exit code 1\n {2}no compiler\n/,
    /\n\[main_work4 item=3, main_work10 item=9 and 2 more\] failed: WORK\.md: Claude declined to answer/,
  ];
  for (const failure of failures) expect(crashed).toMatch(failure);
  expect(crashed).toContain('\nTo continue: raymond resume night\n');
  expect(crashed).toContain('\nTo try again what failed, too: raymond resume night --retry\n');
  expect(crashed).toMatch(/\nwarning: Bash\(npm install\) was not permitted; .* \(4 times by 4 agents\)\n/);

  // Nobody knows what the four scripts did, so they are not run again without being asked.
  expect((await raymond('recover', '--resume', '--quiet')).code).toBe(3);
  const paused = (await raymond('status', 'night')).out;
  expect(paused).toMatch(/^night {2}paused\n/);
  expect(paused).toMatch(/\n\[main_work6 item=5, main_work12 item=11 and 2 more\] paused: /);
  for (const failure of failures) expect(paused).toMatch(failure);
  expect(paused).toContain('\nTo continue: raymond resume night --retry\n');
  expect(await statuses()).toStrictEqual({ ended: 9, failed: 12, paused: 4 });

  writeFileSync(join(cwd, 'go'), '');
  writeWorkflow(cwd, 'wf', { 'BUILD.sh': "echo '<goto>CHECK</goto>'" });
  writeFileSync(
    join(cwd, 'answers.yaml'),
    'answers: { WORK.md: <goto>BUILD.sh</goto>, CHECK.md: <result>done</result> }\n',
  );
  // The script was corrected, which only a person's resume accepts.
  expect((await raymond('recover', '--resume', '--retry', '--quiet')).code).toBe(3);
  expect((await raymond('resume', 'night', '--retry', '--quiet')).code).toBe(0);
  expect(await statuses()).toStrictEqual({ ended: WORKERS + 1 });
}, 120_000);

test('after a reboot, a recovery goes through repeatable scripts by itself', async () => {
  const project = newCliProject();
  const { cwd, raymond } = project;
  writeWorkflow(cwd, 'wf', {
    'START.sh': `#!/bin/bash\n# ---\n# repeatable: true\n# ---\n${waiting('', 'here')}; echo '<goto>END</goto>'`,
    'END.sh': 'echo "<result>visit $RAYMOND_VISIT, done</result>"',
  });
  const owner = startOwnerIn(project, 'wf', '--run-id', 'night');
  await vi.waitUntil(() => existsSync(join(cwd, 'here')), { timeout: 20_000 });
  owner.signal('SIGKILL');
  await owner.exited;
  const turns = join(cwd, '.raymond/runs/night/turns');
  for (const name of readdirSync(turns))
    process.kill(-Number(readFileSync(join(turns, name, 'started'), 'utf8').split(/\s+/)[0]), 'SIGKILL');
  reboot(join(cwd, '.raymond'));
  writeFileSync(join(cwd, 'go'), '');
  expect(await raymond('recover', '--resume', '--quiet')).toMatchObject({ code: 0 });
  const { agents } = JSON.parse((await raymond('status', 'night', '--json')).out);
  expect(agents).toMatchObject([{ status: 'ended', result: 'visit 1, done' }]);
}, 60_000);
