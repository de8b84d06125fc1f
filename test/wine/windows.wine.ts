import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { toWindowsPath, type WindowsCommand, WindowsProject } from './windows-project.ts';

/** A batch file that prints one line as it is: cmd.exe would take these signs for its own. */
const say = (line: string): string => `@echo off\necho ${line.replace(/[<>&|^]/g, '^$&')}\n`;

/** Waits for the file `go`, and no longer than its project is there. */
const WAIT = `@echo off
echo started>>trace.txt
:wait
if not exist wf exit /b 9
if exist go goto done
ping -n 2 127.0.0.1 >nul
goto wait
:done
echo ^<result^>waited^</result^>
`;

const untilTraced = (project: WindowsProject): Promise<boolean> =>
  // The file is there before the line is in it.
  vi.waitUntil(() => existsSync(join(project.folder, 'trace.txt')) && project.read('trace.txt').includes('\n'), {
    timeout: 60_000,
    interval: 50,
  });

const untilSaid = (command: WindowsCommand, text: string): Promise<boolean> =>
  vi.waitUntil(() => command.err().includes(text), { timeout: 60_000, interval: 50 });

const go = (project: WindowsProject): void => writeFileSync(join(project.folder, 'go'), '');

const timesStarted = (project: WindowsProject): number => project.read('trace.txt').trim().split(/\r?\n/).length;

/** A project whose run `r1` was killed while its script ran. */
async function killedRun(): Promise<WindowsProject> {
  const project = new WindowsProject({ 'wf/START.bat': WAIT });
  const first = project.start('wf', '--run-id', 'r1');
  await untilTraced(project);
  first.kill();
  await first.ended;
  return project;
}

describe('states that are batch files', () => {
  test('follow every tag', async () => {
    const project = new WindowsProject({
      'wf/START.bat': say('<call return="BACK">CHILD</call>'),
      'wf/CHILD.bat': say('<goto>LEAF</goto>'),
      'wf/LEAF.bat': say('<result>leaf</result>'),
      'wf/BACK.bat': '@echo off\necho ^<function return="FORK"^>FUN^</function^>\n',
      'wf/FUN.bat': '@echo off\necho ^<result^>got %RAYMOND_RESULT%^</result^>\n',
      'wf/FORK.bat': say('<fork next="JOIN" item="one two">WORK</fork>'),
      'wf/WORK.bat': '@echo off\necho ^<result^>worker %RAYMOND_VAR_item%%item%^</result^>\n',
      'wf/JOIN.bat': say('<join>EACH</join>'),
      'items.txt': 'a\nb\n',
      'wf/EACH.bat': say('<fork-each in="items.txt" next="ALL">WORK</fork-each>'),
      'wf/ALL.bat': say('<join>RESET</join>'),
      'wf/RESET.bat': say('<reset>OTHER</reset>'),
      'wf/OTHER.bat': say('<call-workflow return="ASK">../second</call-workflow>'),
      'second/START.bat': say('<result>from another workflow</result>'),
      'wf/ASK.bat': say('<ask next="END">Publish it?</ask>'),
      'wf/END.bat': '@echo off\necho ^<print^>shown^</print^>\necho ^<result^>%RAYMOND_INPUT%^</result^>\n',
    });
    const asked = await project.run('wf', '--run-id', 'r1');
    expect([asked.code, asked.err]).toStrictEqual([2, expect.stringContaining('asks (main-')]);
    const answered = await project.run('answer', 'r1', 'Yes, do', '--resume');
    expect(answered).toMatchObject({ code: 0, out: expect.stringContaining('Yes, do') });
    expect((await project.run('status', 'r1')).out).toContain('Every agent has ended with a result.');
  });

  test('may be in folders with spaces and signs of cmd.exe, and get variables and inputs as they are', async () => {
    const project = new WindowsProject({
      'my & flow (1) ^ 50%/START.bat':
        '@echo off\nset RAYMOND>all.txt\nset greeting>>all.txt\ncopy "%RAYMOND_RESULT_FILE%" input.txt>nul\necho ^<result^>done^</result^>\n',
    });
    const value = 'it\'s "quoted" & <odd> %PATH% ^ | !';
    const { code, out } = await project.run(
      'my & flow (1) ^ 50%',
      '--var',
      `greeting=${value}`,
      '--input',
      `Ä ${value}`,
    );
    expect([code, out]).toStrictEqual([0, 'done\n']);
    const environment = project.read('all.txt').replaceAll('\r\n', '\n').split('\n');
    expect(environment).toContain('RAYMOND_AGENT_ID=main');
    expect(environment).toContain(`greeting=${value}`);
    expect(environment).toContain(`RAYMOND_VAR_greeting=${value}`);
    expect(project.read('input.txt')).toBe(`Ä ${value}`);
  });

  test('work in folders with names outside ASCII and paths longer than 260 characters', async () => {
    const deep = ['Größe-日本', ...Array.from({ length: 5 }, (_, at) => `${at}`.repeat(50))].join('/');
    const project = new WindowsProject({
      [`${deep}/wf/START.bat`]: say('<goto>END</goto>'),
      [`${deep}/wf/END.bat`]: say('<result>done</result>'),
    });
    const path = `${toWindowsPath(project.folder)}\\${deep.replaceAll('/', '\\')}\\wf`;
    expect(await project.run(path)).toMatchObject({ code: 0, out: 'done\n' });
  });

  test('get a variable of the run instead of an inherited one whose name differs only in case', async () => {
    const project = new WindowsProject({ 'wf/START.bat': '@echo off\necho ^<result^>%Some_Name%^</result^>\n' });
    const command = project.startWith({ env: { SOME_NAME: 'inherited' } }, 'wf', '--var', 'some_name=chosen');
    expect(await command.ended).toMatchObject({ code: 0, out: 'chosen\n' });
  });

  test('that fail have their exit code and what they said in the message', async () => {
    const project = new WindowsProject({
      'wf/START.bat': '@echo off\necho it broke 1>&2\nexit /b 3\n',
      'minus/START.bat': '@echo off\nexit /b -1\n',
    });
    const { code, err } = await project.run('wf');
    expect([code, err]).toStrictEqual([1, expect.stringContaining('the script ended with exit code 3')]);
    expect(err).toContain('it broke');
    expect((await project.run('minus')).err).toContain('the script ended with exit code 4294967295');
  });

  test('are ended by their timeout with what they started', async () => {
    const project = new WindowsProject({ 'wf/START.bat': WAIT });
    const { code, err } = await project.run('wf', '--timeout', '2');
    expect([code, err]).toStrictEqual([1, expect.stringContaining('the script was ended')]);
  });
});

describe('names and paths', () => {
  test('a path has drive letters, backslashes and any letter case', async () => {
    const project = new WindowsProject({
      'wf/START.bat': say('<goto>NEXT</goto>'),
      'wf/NEXT.bat': '@echo off\necho ^<result^>%CD%^</result^>\n',
    });
    const folder = toWindowsPath(project.folder);
    const { code, out, err } = await project.run(`${folder}\\WF\\start.bat`, '--dir', folder);
    expect([code, out.trim(), err]).toStrictEqual([0, folder, expect.stringContaining('NEXT.bat')]);
  });

  test('the name of a state is spelled as its file, as on other systems', async () => {
    const project = new WindowsProject({
      'wf/START.bat': say('<goto>next</goto>'),
      'wf/NEXT.bat': say('<result>x</result>'),
    });
    const { code, err } = await project.run('wf');
    expect([code, err]).toStrictEqual([3, expect.stringContaining('(did you mean NEXT?)')]);
  });

  test('the id of a run is taken in any letter case', async () => {
    const project = new WindowsProject({ 'wf/START.bat': say('<result>x</result>') });
    expect(await project.run('wf', '--run-id', 'r1')).toMatchObject({ code: 0 });
    const second = await project.run('wf', '--run-id', 'R1');
    expect([second.code, second.err]).toStrictEqual([64, expect.stringContaining('already exists')]);
  });
});

test('states for PowerShell are called with their file, and their exit code counts', async () => {
  const project = new WindowsProject({
    'a wf/START.ps1': 'Write-Output "<goto>END</goto>"\n',
    'a wf/END.ps1': 'Write-Output "<result>done by $env:RAYMOND_AGENT_ID</result>"\n',
    'bad/START.ps1': 'Write-Output "<result>x</result>"\nexit 4\n',
  });
  expect(await project.run('a wf')).toMatchObject({ code: 0, out: 'done by main\n' });
  const call = (file: string) => [
    '-NoProfile',
    '-ExecutionPolicy',
    'Bypass',
    '-File',
    toWindowsPath(join(project.folder, 'a wf', file)),
  ];
  const calls = project
    .read('calls.jsonl')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(calls).toStrictEqual([call('START.ps1'), call('END.ps1')]);
  const bad = await project.run('bad');
  expect([bad.code, bad.err]).toStrictEqual([1, expect.stringContaining('exit code 4')]);
});

describe('a run whose process is killed', () => {
  test('follows the script that still runs after a resume, and does not run it twice', async () => {
    const project = await killedRun();
    expect((await project.run('list')).out).toContain('crashed');
    const second = project.start('resume', 'r1');
    await untilSaid(second, 'the run is resumed');
    go(project);
    expect(await second.ended).toMatchObject({ code: 0, out: 'waited\n' });
    expect(timesStarted(project)).toBe(1);
  });

  test('takes the result of a script that ended meanwhile', async () => {
    const project = await killedRun();
    go(project);
    const turns = join(project.folder, '.raymond', 'runs', 'r1', 'turns');
    const recordOf = () =>
      project.read(join('.raymond', 'runs', 'r1', 'turns', readdirSync(turns)[0] ?? '', 'started'));
    await vi.waitUntil(() => /\n0\n$/.test(recordOf()), { timeout: 60_000 });
    expect(await project.run('resume', 'r1')).toMatchObject({ code: 0, out: 'waited\n' });
    expect(timesStarted(project)).toBe(1);
  });

  test('is not removed while its script runs; `stop --now` ends the script', async () => {
    const project = await killedRun();
    const refused = await project.run('prune', 'r1', '--yes');
    expect(refused.err + refused.out).toContain('A turn of run r1 is still running');
    expect(await project.run('stop', 'r1', '--now')).toMatchObject({ code: 0 });
    expect((await project.run('status', 'r1')).out).toMatch(/paused|interrupted/);
    go(project);
    expect(await project.run('resume', 'r1', '--retry')).toMatchObject({ code: 0, out: 'waited\n' });
    expect(timesStarted(project)).toBe(2);
  });

  test('leaves a script whose wrapper was killed too to be run again on request', async () => {
    const project = await killedRun();
    project.killAll();
    const lost = await project.run('resume', 'r1');
    expect([lost.code, lost.err]).toStrictEqual([3, expect.stringContaining('the script was killed midway')]);
    go(project);
    expect(await project.run('resume', 'r1', '--retry')).toMatchObject({ code: 0, out: 'waited\n' });
    expect(timesStarted(project)).toBe(2);
  });
});

describe('a run that is driven', () => {
  test('belongs to one process, and is stopped through another', async () => {
    const project = new WindowsProject({ 'wf/START.bat': WAIT });
    const running = project.start('wf', '--run-id', 'r1');
    await untilTraced(project);
    const second = await project.run('resume', 'r1');
    expect([second.code, second.err]).toStrictEqual([64, expect.stringContaining('which is alive')]);
    expect(await project.run('stop', 'r1', '--now')).toMatchObject({ code: 0 });
    expect((await running.ended).code).not.toBe(0);
    expect((await project.run('status', 'r1')).out).toMatch(/paused|interrupted/);
    go(project);
    expect(await project.run('resume', 'r1', '--retry')).toMatchObject({ code: 0, out: 'waited\n' });
  });

  test('is not taken for alive because another process has the pid of its owner', async () => {
    const project = await killedRun();
    const [owner = ''] = readdirSync(join(project.folder, '.raymond', 'runs', 'r1')).filter((name) =>
      /^owner/.test(name),
    );
    const path = join('.raymond', 'runs', 'r1', owner);
    const other = new WindowsProject({ 'wf/START.bat': WAIT });
    const alive = other.start('wf', '--run-id', 'r2');
    await untilTraced(other);
    const { pid } = JSON.parse(other.read(join('.raymond', 'runs', 'r2', 'owner.1')));
    writeFileSync(join(project.folder, path), JSON.stringify({ ...JSON.parse(project.read(path)), pid }));
    go(project);
    expect(await project.run('resume', 'r1')).toMatchObject({ code: 0, out: 'waited\n' });
    go(other);
    expect(await alive.ended).toMatchObject({ code: 0 });
  });

  test('lets its script end after one Ctrl-C', async () => {
    const project = new WindowsProject({
      'wf/START.bat': WAIT.replace('result^>waited^</result', 'goto^>END^</goto'),
      'wf/END.bat': say('<result>ended</result>'),
    });
    const running = project.startWith({ console: true }, 'wf', '--run-id', 'r1');
    await untilTraced(project);
    running.pressCtrlC();
    await untilSaid(running, 'press Ctrl-C again');
    go(project);
    expect((await running.ended).code).not.toBe(0);
    expect(await project.run('resume', 'r1')).toMatchObject({ code: 0, out: 'ended\n' });
    expect(timesStarted(project)).toBe(1);
  });

  test('ends its script after a second Ctrl-C', async () => {
    const project = new WindowsProject({ 'wf/START.bat': WAIT });
    const running = project.startWith({ console: true }, 'wf', '--run-id', 'r1');
    await untilTraced(project);
    running.pressCtrlC();
    await untilSaid(running, 'press Ctrl-C again');
    running.pressCtrlC();
    expect((await running.ended).err).toContain('the script was ended because the run was stopped');
    go(project);
    expect(await project.run('resume', 'r1', '--retry')).toMatchObject({ code: 0, out: 'waited\n' });
  });
});

describe('other commands', () => {
  test('lint, graph, status, logs and prune read workflows and runs with CR LF', async () => {
    const project = new WindowsProject({
      'wf/START.bat': say('<goto>END</goto>'),
      'wf/END.md': '---\nallowed_transitions:\n  - { tag: result }\n---\nSay it.\n',
      'answers.yaml': 'answers:\n  END:\n    text: <result>done</result>\n',
    });
    expect(await project.run('lint', 'wf')).toMatchObject({ code: 0, out: expect.stringContaining('1 workflow') });
    expect(await project.run('graph', 'wf')).toMatchObject({ code: 0, out: expect.stringContaining('START.bat') });
    const run = await project.run('wf', '--run-id', 'r1', '--agent', 'replay:answers.yaml');
    expect(run).toMatchObject({ code: 0, out: 'done\n' });
    expect(await project.run('status', 'r1')).toMatchObject({ code: 0, out: expect.stringContaining('completed') });
    expect(await project.run('logs', 'r1')).toMatchObject({ code: 0, out: expect.stringContaining('START.bat') });
    expect(await project.run('prune', '--yes')).toMatchObject({ code: 0 });
    expect((await project.run('list')).out).toContain('There are no runs here yet.');
  });

  test('init writes a workflow that passes lint and its own test', async () => {
    const project = new WindowsProject();
    expect(await project.run('init', 'first')).toMatchObject({ code: 0, out: expect.stringContaining('CHECK.bat') });
    expect(await project.run('lint', 'first', '--level', 'warning')).toMatchObject({ code: 0 });
    expect(await project.run('test', 'first')).toMatchObject({ code: 0, out: expect.stringContaining('all passed') });
  });

  test('demo runs its tests, its loop and its workers', async () => {
    const project = new WindowsProject();
    const { code, out, err } = await project.run('demo', '--fast');
    expect([code, out]).toStrictEqual([0, expect.stringContaining('roman.mjs turns numbers')]);
    expect(err).toContain('TEST.bat → FIX.md');
    expect(project.read('raymond-demo/test-output.txt')).toContain('# fail 0');
  });
});
