import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newCliProject } from './cli-project.ts';
import { writeWorkflow } from './owners.ts';

test('without a run id, the resumable runs are listed', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'ok', { 'START.sh': 'echo "<result>r</result>"' });
  writeWorkflow(cwd, 'bad', { 'START.sh': 'exit 2' });
  writeWorkflow(cwd, 'loop', { 'START.sh': 'echo "<goto>START</goto>"' });
  await raymond('ok', '--run-id', 'ok-1');
  expect(await raymond('resume')).toStrictEqual({
    code: 64,
    out: '',
    err: 'raymond: there is no run to resume\n`raymond list` shows the runs there are.\n',
  });
  await raymond('loop', '--run-id', 'loop-1', '--max-iterations', '1');
  await raymond('bad', '--run-id', 'bad-1');
  const { code, err } = await raymond('resume');
  expect(code).toBe(64);
  expect(err.replace(/\d+s ago/g, '0s ago').split('\n')).toStrictEqual([
    'raymond: there is more than one run to resume',
    'Name one of these, or "last" for the latest:',
    '  loop-1  iteration limit  0s ago',
    '  bad-1   failed           0s ago',
    '',
  ]);
});

test('without a run id, the only resumable run is resumed', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'ok', { 'START.sh': 'echo "<result>r</result>"' });
  await raymond('ok', '--run-id', 'done');
  writeWorkflow(cwd, 'two', { 'START.sh': 'echo "<goto>NEXT</goto>"', 'NEXT.sh': 'echo "<result>two</result>"' });
  await raymond('two', '--run-id', 'two-1', '--max-iterations', '1');
  expect(await raymond('resume', '--max-iterations', '5')).toMatchObject({ code: 0, out: 'two\n' });
});

test.each([
  ['an id nobody knows', 'nope', /^raymond: no such run: nope\n`raymond list` shows the runs of .*\n$/],
  ['a slip', 'okk', /^raymond: no such run: okk \(did you mean ok-1 or ok-2\?\)\n/],
  ['a beginning that several have', 'ok', /^raymond: `ok` may be any of 2 runs: ok-1, ok-2\.\nWrite more of its id/],
])('%s is refused with a suggestion', async (_, wanted, message) => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'ok', { 'START.sh': 'echo "<result>r</result>"' });
  for (const id of ['ok-1', 'ok-2']) await raymond('ok', '--run-id', id);
  for (const command of ['resume', 'status', 'stop']) {
    const { code, out, err } = await raymond(command, wanted);
    expect([code, out]).toStrictEqual([64, '']);
    expect(err).toMatch(message);
  }
});

test('a run whose state file is lost or damaged continues, and says so in a sentence', async () => {
  const { cwd, raymond } = newCliProject();
  writeWorkflow(cwd, 'wf', { 'START.sh': 'echo "<goto>END</goto>"', 'END.sh': 'echo "<result>done</result>"' });
  const file = join(cwd, '.raymond', 'state', 'r1.json');
  await raymond('wf', '--run-id', 'r1', '--max-iterations', '1', '--quiet');
  writeFileSync(file, '');
  const sentence = (problem: string): string =>
    `The state file of r1 is ${problem}: the run is read from its journal, and a resume writes the file again.\n`;
  const first = await raymond('resume', 'r1', '--max-iterations', '1', '--quiet');
  expect([first.code, first.err.startsWith(sentence('damaged'))]).toStrictEqual([4, true]);
  rmSync(file);
  const second = await raymond('resume', 'r1', '--max-iterations', '5', '--quiet');
  expect(second).toStrictEqual({ code: 0, out: 'done\n', err: sentence('missing') });
  expect(JSON.parse((await raymond('status', 'r1', '--json')).out)).toMatchObject({ status: 'completed', damage: [] });
});
