import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { writeLogs } from '../../src/app/logs.ts';
import { resumeRun } from '../../src/app/resume.ts';
import { runWorkflow } from '../../src/app/start.ts';
import { runCli } from '../../src/cli/program.ts';
import { startPager } from '../../src/render/terminal/pager.ts';
import { eventually } from '../process/turns.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { type CliProject, newCliProject } from './cli-project.ts';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');
const WAIT = 'i=0; while [ ! -e go ] && [ $i -lt 3000 ]; do sleep 0.01; i=$((i+1)); done';

function projectWith(states: Readonly<Record<string, string>>): CliProject {
  const project = newCliProject();
  mkdirSync(join(project.cwd, 'wf'));
  for (const [name, text] of Object.entries(states)) writeFileSync(join(project.cwd, 'wf', name), text);
  return project;
}

/** The lines of a story, with times and durations taken out. */
const plain = (out: string): readonly string[] =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^── (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d/, '──').replace(/, \d+\.\d+s/, ', TIME'));

const lines = (
  project: CliProject,
): ReturnType<CliProject['terminal']> & { readonly has: (text: string) => Promise<void> } => {
  const terminal = project.terminal();
  return { ...terminal, has: (text) => eventually(text, () => terminal.output().out.includes(text)) };
};

const turnFile = (cwd: string, turn: string, file: string): string => {
  const [run = ''] = readdirSync(join(cwd, '.raymond', 'runs'));
  return join(cwd, '.raymond', 'runs', run, 'turns', turn, file);
};

describe('raymond logs', () => {
  test('prints the last run in order: output of scripts, transitions, failures', async () => {
    const project = projectWith({
      'START.sh': 'echo hello; echo odd >&2; echo "<fork next=\\"B\\" n=\\"7\\">W</fork>"',
      'W.sh': 'echo "<result>$n</result>"',
      'B.sh': `${WAIT}; echo gone >&2; exit 3`,
    });
    const { finished } = await runWorkflow('wf', {
      cwd: project.cwd,
      runId: 'r1',
      options: { budgetMicros: 5_000_000 },
      observe: ({ kind }) => kind === 'agent_ended' && writeFileSync(join(project.cwd, 'go'), ''),
    });
    await finished;
    const { code, out, err } = await project.raymond('logs');
    expect([code, err]).toStrictEqual([0, '']);
    expect(plain(out)).toStrictEqual([
      `── run r1: ${join(project.cwd, 'wf')}`,
      '  options: --budget 5',
      '',
      '── [main] START.sh, turn 1',
      '  | hello',
      '  | <fork next="B" n="7">W</fork>',
      '  ! odd',
      '  START.sh → B.sh (fork) $0.00, TIME',
      '[main_w1 n=7] forked by main, starts in W.sh',
      '',
      '── [main_w1 n=7] W.sh, turn 1',
      '  | <result>7</result>',
      '  W.sh → end (result) $0.00, TIME',
      '',
      '── [main] B.sh, turn 2',
      '  ! gone',
      expect.stringMatching(/^ {2}failed \(script\) after \d/),
      '  failed: B.sh: the script ended with exit code 3',
      '',
      '── the run has ended: failed, $0.00',
    ]);
    expect(plain((await project.raymond('logs', 'r1', '--agent', 'main_w1')).out)).toStrictEqual([
      ...plain(out).slice(0, 2),
      ...plain(out).slice(8, 14),
      '── the run has ended: failed, $0.00',
    ]);
  });

  test('omits the middle of long output, and says where to find it', async () => {
    const project = projectWith({ 'START.sh': 'seq 100; seq 45 >&2; echo "<result>r</result>"' });
    await (await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' })).finished;
    const told = plain((await project.raymond('logs', 'r1')).out);
    const folder = join('.raymond', 'runs', 'r1', 'turns', '0001-main-START');
    const count = (from: number, to: number, sign: string): readonly string[] =>
      Array.from({ length: to - from + 1 }, (_, index) => `  ${sign} ${from + index}`);
    expect(told.slice(3, -3)).toStrictEqual([
      ...count(1, 20, '|'),
      `  … 61 more lines in ${join(folder, 'stdout')}`,
      ...count(82, 100, '|'),
      '  | <result>r</result>',
      ...count(1, 20, '!'),
      `  … 5 more lines in ${join(folder, 'stderr')}`,
      ...count(26, 45, '!'),
    ]);
  });

  test('ignores a step that is being written', async () => {
    const project = projectWith({ 'START.sh': 'echo "<result>r</result>"' });
    await (await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' })).finished;
    const before = await project.raymond('logs');
    appendFileSync(join(project.cwd, '.raymond', 'runs', 'r1', 'journal.jsonl'), '{"seq":9,"head":{');
    expect(await project.raymond('logs', '--follow')).toStrictEqual(before);
  });

  test('prints the raw output of turns with --raw', async () => {
    const project = projectWith({
      'START.sh': `seq 100; printf '\\033[1mx\\r\\n'; echo odd >&2; echo "<goto>B</goto>"`,
      'B.sh': 'printf "<result>r</result>"',
    });
    await (await runWorkflow('wf', { cwd: project.cwd })).finished;
    const { out, err } = await project.raymond('logs', '--raw');
    const numbers = Array.from({ length: 100 }, (_, index) => `${index + 1}\n`).join('');
    expect(out).toBe(`${numbers}\u001b[1mx\r\n<goto>B</goto>\nodd\n<result>r</result>\n`);
    expect(err).toBe('');
  });

  test('says once that no files of the turns were kept, and prints the rest', async () => {
    const project = projectWith({ 'START.sh': 'echo "<goto>B</goto>"', 'B.sh': 'echo "<result>r</result>"' });
    await (await runWorkflow('wf', { cwd: project.cwd, options: { debug: false } })).finished;
    await eventually('the end of the files', () => {
      return readdirSync(join(project.cwd, '.raymond', 'runs'), { recursive: true, encoding: 'utf8' }).every(
        (name) => !name.includes('0002'),
      );
    });
    const told = plain((await project.raymond('logs')).out);
    expect(told.filter((line) => line.startsWith('  '))).toStrictEqual([
      '  options: --no-debug',
      '  with --no-debug no files of turns are kept: prompts, answers and output cannot be shown',
      '  START.sh → B.sh (goto) $0.00, TIME',
      '  B.sh → end (result) $0.00, TIME',
      '  result: r',
    ]);
  });

  test('prints only the last lines with --tail, only one state with --state, and events as JSON with --json', async () => {
    const project = projectWith({
      'START.sh': 'echo a; echo "<goto>B</goto>"',
      'B.sh': 'echo b; echo "<result>r</result>"',
    });
    await (await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' })).finished;
    const all = plain((await project.raymond('logs')).out);
    expect(plain((await project.raymond('logs', '--tail', '3')).out)).toStrictEqual(all.slice(-3));
    expect((await project.raymond('logs', '--tail', '0')).out).toBe('');
    expect(plain((await project.raymond('logs', '--tail', '999')).out)).toStrictEqual(all);
    const ofB = plain((await project.raymond('logs', '--state', 'B')).out);
    expect(ofB).toStrictEqual([all[0], '', ...all.slice(all.indexOf('── [main] B.sh, turn 2'))]);
    const { out } = await project.raymond('logs', '--json', '--state', 'B.sh');
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).kind),
    ).toStrictEqual(['run_started', 'turn_started', 'turn_ended', 'transition', 'agent_ended', 'run_ended']);
  });

  test('has the same last lines with --tail as without, also of agents that were at work at the same time', async () => {
    const project = projectWith({
      'START.sh': `echo '${[1, 2, 3, 4].map((n) => `<fork n="${n}" next="END">WORK</fork>`).join('')}'`,
      'WORK.sh': 'sleep 0.0$((5 - n)); echo "work $n"; echo "<goto>MORE</goto>"',
      'MORE.sh': 'echo "<result>$n</result>"',
      'END.sh': 'echo "<result>r</result>"',
    });
    await (await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' })).finished;
    const filters = [
      ['--agent', 'main_work2'],
      ['--state', 'MORE'],
      ['--agent', 'main', '--state', 'START'],
    ];
    for (const format of [
      [],
      ['--json'],
      ['--raw'],
      ...filters,
      ['--json', ...(filters[0] ?? [])],
      ['--raw', '--state', 'WORK'],
    ]) {
      const printed = async (...argv: readonly string[]): Promise<readonly string[]> =>
        (await project.raymond('logs', ...format, ...argv)).out.trimEnd().split('\n');
      const all = await printed();
      for (let tail = 1; tail <= all.length; tail += 5)
        expect(await printed('--tail', `${tail}`)).toStrictEqual(all.slice(-tail));
    }
  });

  test('is shown in a pager on a screen, except with --no-pager, --follow and --json', async () => {
    const project = projectWith({ 'START.sh': 'echo "<result>r</result>"' });
    await (await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' })).finished;
    const file = join(project.cwd, 'page');
    const show = async (...argv: readonly string[]): Promise<string> => {
      const terminal = project.terminal();
      const PAGER = `cat > '${file}'`;
      await runCli(['logs', ...argv], { ...terminal, startPager: () => startPager({ ...process.env, PAGER }) });
      return terminal.output().out;
    };
    const log = await show('--no-pager');
    expect(log).toContain('the run has ended');
    expect(existsSync(file)).toBe(false);
    expect(await show()).toBe('');
    expect(readFileSync(file, 'utf8')).toBe(log);
    rmSync(file);
    expect(await show('--follow')).toBe(log);
    expect(await show('--json')).toContain('"run_ended"');
    expect(existsSync(file)).toBe(false);
  });

  test('ends when its pager is left', async () => {
    const project = projectWith({ 'START.sh': 'seq 300000; echo "<result>r</result>"' });
    await (await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' })).finished;
    const pager = { startPager: () => startPager({ ...process.env, PAGER: 'head -1 > /dev/null' }) };
    expect(await runCli(['logs', '--raw'], { ...project.terminal(), ...pager })).toBe(0);
  });

  test.each([
    ['two formats', ['--json', '--raw'], /--json prints events and --raw the output of turns: choose one/],
    ['a state that it was never in', ['r1', '--state', 'STRAT'], /run r1 has never been in the state STRAT/],
    ['a run that nobody knows', ['nope'], /no such run: nope/],
    ['an agent that nobody knows', ['r1', '--agent', 'man'], /there is no agent man in run r1 \(did you mean main\?\)/],
    ['an agent that will not come any more', ['r1', '--agent', 'main_w1', '--follow'], /there is no agent main_w1/],
  ])('refuses %s', async (_, args, message) => {
    const project = projectWith({ 'START.sh': 'echo "<result>r</result>"' });
    await (await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' })).finished;
    const { code, out, err } = await project.raymond('logs', ...args);
    expect([code, out]).toStrictEqual([64, '']);
    expect(err).toMatch(message);
  });
});

describe('raymond logs of a running run', () => {
  const states = {
    'START.sh': 'echo "<fork next=\\"B\\">W</fork>"',
    'W.sh': `echo at work; ${WAIT}; echo back; echo "<result>w</result>"`,
    'B.sh': `echo also; ${WAIT}; printf "<result>b</result>"`,
  };

  test('prints what exists, and tolerates an incomplete line', async () => {
    const project = projectWith(states);
    const { finished } = await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' });
    await eventually('both', () =>
      ['0001-main_w1-W', '0002-main-B'].every((turn) => {
        try {
          return readFileSync(turnFile(project.cwd, turn, 'stdout'), 'utf8') !== '';
        } catch {
          return false;
        }
      }),
    );
    appendFileSync(turnFile(project.cwd, '0002-main-B', 'stdout'), 'unfini');
    const { code, out } = await project.raymond('logs');
    expect(code).toBe(0);
    const told = plain(out);
    expect(told).toContain('  | at work');
    expect(told).toContain('  | unfini');
    expect(told.at(-1)).toBe('The run is still running: `raymond logs r1 --follow` follows it.');
    writeFileSync(join(project.cwd, 'go'), '');
    await finished;
  });

  test('follows the run with --follow, each line labelled, until the run ends', async () => {
    const project = projectWith(states);
    const { finished } = await runWorkflow('wf', { cwd: project.cwd, runId: 'r1' });
    const terminal = lines(project);
    await eventually('a run', () => readdirSync(join(project.cwd, '.raymond')).includes('state'));
    const told = runCli(['logs', 'last', '--follow'], terminal);
    await terminal.has('[main_w1] | at work\n');
    await terminal.has('[main] | also\n');
    expect(terminal.output().out).not.toContain('back');
    writeFileSync(join(project.cwd, 'go'), '');
    expect(await told).toBe(0);
    await finished;
    const all = plain(terminal.output().out);
    const of = (agent: string): readonly string[] => all.filter((line) => line.includes(`[${agent}]`));
    expect(of('main_w1').slice(-5)).toStrictEqual([
      '── [main_w1] W.sh, turn 1',
      '[main_w1] | at work',
      '[main_w1] | back',
      '[main_w1] | <result>w</result>',
      '[main_w1] W.sh → end (result) $0.00, TIME',
    ]);
    expect(of('main').slice(-4)).toStrictEqual([
      '── [main] B.sh, turn 2',
      '[main] | also',
      '[main] | <result>b</result>',
      '[main] B.sh → end (result) $0.00, TIME',
    ]);
    expect(all.at(-1)).toBe('── the run has ended: completed, $0.00');
  });

  test('prints raw lines as they come with --raw --follow, optionally of one agent', async () => {
    const project = projectWith(states);
    const { finished } = await runWorkflow('wf', { cwd: project.cwd });
    await eventually('a run', () => readdirSync(join(project.cwd, '.raymond')).includes('state'));
    const terminal = lines(project);
    const told = runCli(['logs', '--raw', '--follow', '--agent', 'main_w1'], terminal);
    await terminal.has('at work\n');
    writeFileSync(join(project.cwd, 'go'), '');
    expect(await told).toBe(0);
    await finished;
    expect(terminal.output()).toStrictEqual({ out: 'at work\nback\n<result>w</result>\n', err: '' });
  });

  test('stops immediately if its output is no longer read', async () => {
    const project = projectWith(states);
    const { finished } = await runWorkflow('wf', { cwd: project.cwd });
    const enough = new AbortController();
    const heard: string[] = [];
    await writeLogs('last', {
      cwd: project.cwd,
      storage: storageIn(project.cwd),
      follow: true,
      signal: enough.signal,
      writeMessage: () => {},
      write(line) {
        heard.push(line);
        if (line.includes('at work')) enough.abort();
      },
    });
    expect(heard.join('\n')).not.toContain('back');
    writeFileSync(join(project.cwd, 'go'), '');
    await finished;
  });

  test('says that the process of the run is gone, and continues after a resume', async () => {
    const project = projectWith(states);
    const owner = spawn(process.execPath, [CLI, 'wf', '--run-id', 'r1', '--quiet'], {
      cwd: project.cwd,
      stdio: 'ignore',
    });
    onTestFinished(() => void owner.kill('SIGKILL'));
    await eventually('a run', () => {
      try {
        return readFileSync(turnFile(project.cwd, '0002-main-B', 'stdout'), 'utf8') !== '';
      } catch {
        return false;
      }
    });
    const terminal = lines(project);
    const told = runCli(['logs', 'r1', '--follow'], terminal);
    await terminal.has('[main_w1] | at work\n');
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    expect(await told).toBe(0);
    expect(plain(terminal.output().out).at(-1)).toBe(
      `Process ${owner.pid}, which drove this run, is gone. \`raymond resume r1\` continues with it.`,
    );
    writeFileSync(join(project.cwd, 'go'), '');
    await (await resumeRun('r1', { cwd: project.cwd })).finished;
    const all = plain((await project.raymond('logs', 'r1', '--follow')).out);
    expect(all).toContain('── the run is resumed');
    expect(all).toContain('  | back');
    expect(all.at(-1)).toBe('── the run has ended: completed, $0.00');
  });
});

test('a reader that closes the pipe ends the command quietly', async () => {
  const project = projectWith({ 'START.sh': 'seq 300000; echo "<result>r</result>"' });
  await (await runWorkflow('wf', { cwd: project.cwd })).finished;
  const child = spawn(process.execPath, [CLI, 'logs', '--raw'], { cwd: project.cwd });
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const [code] = await once(child, 'exit');
  expect([code, err]).toStrictEqual([0, '']);
  rmSync(join(project.cwd, '.raymond'), { recursive: true });
});
