/*
 * What "What survives a crash" in ARCHITECTURE.md means for someone at a terminal: the built command, real scripts, real
 * signals. A script waits at a gate, a file, so that we know what is under way when something happens; nothing sleeps.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createRandom } from '../torture/random.ts';
import {
  attend,
  CLI,
  type EndedCommand,
  type StartedCommand,
  signalProcess,
  startCommand,
  until,
} from './built-command.ts';

const ID = 'crash';

let home: string;
let started: StartedCommand[];

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-crash-')));
  started = [];
});

afterEach(async () => {
  open('gate');
  for (const { pid } of turns()) signalProcess(pid, 'SIGKILL');
  for (const each of started) each.kill();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

function command(...args: readonly string[]): StartedCommand {
  return keep(startCommand(args, home));
}

/** Remembers a process, which is killed after the test. */
function keep(command: StartedCommand): StartedCommand {
  started.push(command);
  return command;
}

const run = (files: Record<string, string>, ...options: string[]): StartedCommand =>
  command('run', workflow(files), '--run-id', ID, ...options);
const resume = (...options: string[]): StartedCommand => command('resume', ID, ...options);

function workflow(files: Record<string, string>): string {
  const folder = join(home, 'workflow');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** A script that leaves a line when it begins and one when it ends, and waits at the gate in between. */
const gated = (answer: string): string => `echo "begin $RAYMOND_STATE" >> effects
until [ -e gate ]; do sleep 0.02; done
echo "end $RAYMOND_STATE" >> effects
echo '${answer}'
`;

const GATED = { 'START.sh': gated('<result>done</result>') };
const THEN = {
  'START.sh': gated('<goto>NEXT</goto>'),
  'NEXT.sh': 'echo next >> effects; echo "<result>done</result>"',
};

const open = (gate: string): void => writeFileSync(join(home, gate), '');
const text = (...path: string[]): string =>
  existsSync(join(home, ...path)) ? readFileSync(join(home, ...path), 'utf8') : '';
const effects = (): readonly string[] => text('effects').split('\n').slice(0, -1);
const journal = join('.raymond', 'runs', ID, 'journal.jsonl');
const hasBegun = (state = 'START.sh'): Promise<void> =>
  until(() => effects().includes(`begin ${state}`), `${state} to begin`);

/** The living processes of this run's turns. */
function turns(): readonly { readonly pid: number; readonly group: number }[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      // Other tests have runs of the same name, in other folders.
      const environment = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
      if (!environment.includes(`PWD=${home}`)) return [];
      if (!environment.some((entry) => entry.startsWith(`RAYMOND_TURN=${ID}/`))) return [];
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      const [state = 'Z', , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return state === 'Z' ? [] : [{ pid: Number(pid), group: Number(group) }];
    } catch {
      return [];
    }
  });
}

/** The group of the turn under way, as its wrapper wrote it down. */
function group(): number {
  const folder = join(home, '.raymond', 'runs', ID, 'turns');
  const last = readdirSync(folder).sort().at(-1) ?? '';
  return Number(readFileSync(join(folder, last, 'started'), 'utf8').split(' ')[0]);
}

/** Kills the orchestrator while its script waits at the gate. */
async function orchestratorKilled(files: Record<string, string>): Promise<void> {
  const orchestrator = run(files);
  await hasBegun();
  signalProcess(orchestrator.pid, 'SIGKILL');
  expect(await orchestrator.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
}

async function bothKilled(files: Record<string, string>): Promise<void> {
  await orchestratorKilled(files);
  signalProcess(-group(), 'SIGKILL');
}

describe.skipIf(process.platform !== 'linux')('after kill -9 (on Linux)', { timeout: 120_000 }, () => {
  test('a script that still runs is adopted until its end, and runs once', async () => {
    await orchestratorKilled(THEN);
    const resumed = resume();
    await resumed.said('the run is resumed');
    open('gate');
    expect(await resumed.ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh', 'next']);
  });

  test('a gate that still runs is adopted until its end, and decides; neither it nor its state runs again', async () => {
    const orchestrator = run({
      'START.sh': '# ---\n# evaluator: { script: GATE.sh }\n# ---\necho state >> effects; echo "<goto>NEXT</goto>"\n',
      'GATE.sh': `echo "begin gate" >> effects; until [ -e gate ]; do sleep 0.02; done; echo "$RAYMOND_TRANSITION" >> effects; echo '<goto>OTHER</goto>'\n`,
      'NEXT.sh': 'echo "<result>next</result>"',
      'OTHER.sh': 'echo "<result>other</result>"',
    });
    await until(() => effects().includes('begin gate'), 'the gate to begin');
    signalProcess(orchestrator.pid, 'SIGKILL');
    await orchestrator.ended;
    const resumed = resume();
    await resumed.said('the run is resumed');
    open('gate');
    expect(await resumed.ended).toMatchObject({ code: 0, stdout: 'other\n' });
    expect(effects()).toStrictEqual(['state', 'begin gate', '<goto>NEXT</goto>']);
  });

  test('what a script has shown with <print> is not shown again, and what it shows later is', async () => {
    const orchestrator = run({
      'START.sh': `echo '<print>half of it</print>'; ${gated('<print>all of it</print><result>done</result>')}`,
    });
    await orchestrator.said('[main] half of it');
    signalProcess(orchestrator.pid, 'SIGKILL');
    await orchestrator.ended;
    const resumed = resume();
    await resumed.said('the run is resumed');
    open('gate');
    const { code, stderr } = await resumed.ended;
    expect([code, stderr.includes('half of it'), stderr.split('[main] all of it').length]).toStrictEqual([0, false, 2]);
    expect(text(journal).match(/"kind":"printed"/g)).toHaveLength(2);
  });

  test('a script that has ended meanwhile counts, and does not run again', async () => {
    await orchestratorKilled(THEN);
    const turn = join('.raymond', 'runs', ID, 'turns', '0001-main-START', 'started');
    open('gate');
    await until(() => text(turn).endsWith('\n0\n'), 'the script to end');
    expect(await resume().ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh', 'next']);
  });

  test('a script that was killed too pauses the run, and only --retry runs it again', async () => {
    await bothKilled(THEN);
    open('gate');
    for (const _ of ['once', 'and once more']) {
      const { code, stderr } = await resume().ended;
      expect([code, stderr]).toStrictEqual([3, expect.stringContaining('`resume --retry` runs it again')]);
      expect(effects()).toStrictEqual(['begin START.sh']);
    }
    expect(await resume('--retry').ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'begin START.sh', 'end START.sh', 'next']);
  });

  test('a script that was killed too runs again at once if the first resume has --retry', async () => {
    await bothKilled(THEN);
    open('gate');
    expect(await resume('--retry').ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'begin START.sh', 'end START.sh', 'next']);
  });

  test('a script that is killed while its run continues pauses the run as well', async () => {
    const running = run(THEN);
    await hasBegun();
    signalProcess(-group(), 'SIGKILL');
    const { code, stderr } = await running.ended;
    expect([code, stderr]).toStrictEqual([3, expect.stringContaining('`resume --retry` runs it again')]);
  });

  test('a call into another workflow continues there, and returns into the right one', async () => {
    const other = join(home, 'other');
    mkdirSync(other);
    writeFileSync(join(other, 'START.sh'), gated('<goto>NEXT</goto>'));
    writeFileSync(join(other, 'NEXT.sh'), 'echo "$RAYMOND_STATE" >> effects; echo "<result>other</result>"');
    const orchestrator = run({
      'START.sh': 'echo \'<function-workflow return="NEXT">../other</function-workflow>\'',
      'NEXT.sh': 'echo "$RAYMOND_STATE with $RAYMOND_RESULT" >> effects; echo "<result>done</result>"',
    });
    await hasBegun('other/START.sh');
    signalProcess(orchestrator.pid, 'SIGKILL');
    await orchestrator.ended;
    const resumed = resume();
    await resumed.said('the run is resumed');
    open('gate');
    expect(await resumed.ended).toMatchObject({ code: 0, stdout: 'done\n' });
    const seen = ['begin other/START.sh', 'end other/START.sh', 'other/NEXT.sh', 'NEXT.sh with other'];
    expect(effects()).toStrictEqual(seen);
  });

  test('an incomplete line is cut off, and the run continues', async () => {
    await orchestratorKilled(THEN);
    const whole = text(journal);
    const last = whole.split('\n').at(-2) ?? '';
    appendFileSync(join(home, journal), last.slice(0, last.length / 2));
    open('gate');
    expect(await resume().ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(text(journal).startsWith(whole)).toBe(true);
    const seqs = text(journal)
      .split('\n')
      .slice(0, -1)
      .map((line) => (JSON.parse(line) as { seq: number }).seq);
    expect(seqs).toStrictEqual(seqs.map((_, index) => index));
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh', 'next']);
  });

  test('an invalid line before the last one stops the resume before anything is changed', async () => {
    await orchestratorKilled(THEN);
    const [first, ...rest] = text(journal).split('\n');
    const broken = [first?.slice(0, 20), ...rest].join('\n');
    writeFileSync(join(home, journal), broken);
    const { code } = await resume().ended;
    expect([code, text(journal) === broken]).toStrictEqual([65, true]);
  });

  test('a script whose folder was lost in a power cut may have run, and only --retry runs it again', async () => {
    await bothKilled(THEN);
    rmSync(join(home, '.raymond', 'runs', ID, 'turns', '0001-main-START'), { recursive: true });
    open('gate');
    expect(await resume().ended).toMatchObject({ code: 3, stderr: expect.stringContaining('--retry') });
    expect(await resume('--retry').ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'begin START.sh', 'end START.sh', 'next']);
  });

  test('a script that still runs is found when .raymond was moved, and runs once', async () => {
    await orchestratorKilled(THEN);
    const elsewhere = join(home, 'elsewhere');
    mkdirSync(elsewhere);
    renameSync(join(home, '.raymond'), join(elsewhere, '.raymond'));
    const env = { ...process.env, PWD: home };
    const stdio = ['ignore', 'pipe', 'pipe'] as const;
    const resumed = keep(
      attend(spawn(process.execPath, [CLI, 'resume', ID], { cwd: elsewhere, env, stdio: [...stdio] })),
    );
    await resumed.said('the run is resumed');
    open('gate');
    expect(await resumed.ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh', 'next']);
  });

  test('and a power cut, a turn without a trace may have run, and only --retry runs it again', async () => {
    await bothKilled(THEN);
    const owner = join(home, '.raymond', 'runs', ID, 'owner.1');
    writeFileSync(owner, JSON.stringify({ ...JSON.parse(readFileSync(owner, 'utf8')), bootId: 'of yesterday' }));
    rmSync(join(home, '.raymond', 'runs', ID, 'turns', '0001-main-START', 'started'));
    open('gate');
    for (const _ of ['once', 'and once more']) {
      const { code, stderr } = await resume().ended;
      expect([code, stderr]).toStrictEqual([3, expect.stringContaining('the machine went down, and no trace is left')]);
      expect(effects()).toStrictEqual(['begin START.sh']);
    }
    expect(await resume('--retry').ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'begin START.sh', 'end START.sh', 'next']);
  });

  test('two simultaneous resumes: one continues, the other gets a message with its process', async () => {
    await orchestratorKilled(THEN);
    const both = [resume(), resume()] as const;
    const first = await Promise.race(both.map(async ({ pid, ended }) => ({ pid, ...(await ended) })));
    const winner = both.find(({ pid }) => pid !== first.pid);
    expect([first.code, first.stderr]).toStrictEqual([64, expect.stringContaining(`driven by process ${winner?.pid}`)]);
    open('gate');
    expect(await winner?.ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh', 'next']);
  });

  test('a process from before a reboot is no owner, even if its pid was reused', async () => {
    await bothKilled(THEN);
    const owner = join(home, '.raymond', 'runs', ID, 'owner.1');
    const facts = JSON.parse(readFileSync(owner, 'utf8'));
    // A living process with the owner's number and start time: only the boot is another.
    const stat = readFileSync(`/proc/${process.pid}/stat`, 'latin1');
    const startTime = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    writeFileSync(owner, JSON.stringify({ ...facts, pid: process.pid, startTime }));
    expect(await resume().ended).toMatchObject({ code: 64 });
    writeFileSync(owner, JSON.stringify({ ...facts, pid: process.pid, startTime, bootId: 'of yesterday' }));
    open('gate');
    expect(await resume().ended).toMatchObject({ code: 3 });
    expect(await resume('--retry').ended).toMatchObject({ code: 0, stdout: 'done\n' });
  });

  test('no step is skipped and none runs twice, for many kills at random times', async () => {
    const steps = 40;
    const loop = `n=\${RAYMOND_RESULT:-0}; echo "$n" >> effects
if [ "$n" -lt ${steps} ]; then echo "<goto input=\\"$((n + 1))\\">START</goto>"; else echo '<result>done</result>'; fi`;
    const chance = createRandom(20);
    let next = run({ 'START.sh': loop });
    for (let kills = 0; kills < 6; kills += 1) {
      await until(() => existsSync(join(home, '.raymond', 'state', `${ID}.json`)), 'the run to exist');
      await delay(chance.between(200, 700));
      signalProcess(next.pid, 'SIGKILL');
      await next.ended;
      next = resume();
    }
    expect(await next.ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(Array.from({ length: steps + 1 }, (_, n) => String(n)));
  });

  test('an ended run runs nothing and prints its result again', async () => {
    open('gate');
    const first = await run(THEN, '--json').ended;
    expect(await resume('--json').ended).toStrictEqual({ ...first, stderr: expect.any(String) });
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh', 'next']);
  });
});

describe.skipIf(process.platform !== 'linux')('a run at a terminal (on Linux)', { timeout: 120_000 }, () => {
  test('continues after it was suspended, and remains its owner', async () => {
    const running = run(THEN);
    await hasBegun();
    signalProcess(running.pid, 'SIGSTOP');
    open('gate');
    await until(() => effects().includes('end START.sh'), 'the script to end');
    const { code, stderr } = await resume().ended;
    expect([code, stderr]).toStrictEqual([64, expect.stringContaining(`driven by process ${running.pid}`)]);
    signalProcess(running.pid, 'SIGCONT');
    expect(await running.ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh', 'next']);
  });

  test('ends after its turns at the first Ctrl-C, and a resume continues from there', async () => {
    const running = run(THEN);
    await hasBegun();
    signalProcess(running.pid, 'SIGINT');
    await running.said('stopping');
    open('gate');
    expect(await running.ended).toMatchObject({ code: 130 });
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh']);
    expect(await resume().ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'end START.sh', 'next']);
  });

  test('ends its turns at the second Ctrl-C, leaves nothing behind and can be resumed', async () => {
    const running = run(GATED);
    await hasBegun();
    signalProcess(running.pid, 'SIGINT');
    await running.said('stopping');
    signalProcess(running.pid, 'SIGINT');
    expect(await running.ended).toMatchObject({ code: 130 });
    expect(turns()).toStrictEqual([]);
    open('gate');
    expect(await resume('--retry').ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'begin START.sh', 'end START.sh']);
  });
});

/** A container, as far as processes are concerned: they see no others, and all of them end with the first one. */
const startContainer = (file: string, ...args: readonly string[]): StartedCommand => {
  const env = { ...process.env, PWD: home };
  const command = ['-rpf', '--mount-proc', '--kill-child', file, ...args];
  return keep(attend(spawn('unshare', command, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })));
};
const inContainer = (...args: readonly string[]): StartedCommand => startContainer(process.execPath, CLI, ...args);
const canContain = spawnSync('unshare', ['-rpf', '--mount-proc', 'true']).status === 0;

describe.skipIf(!canContain)('a container (needs the right to make one)', { timeout: 120_000 }, () => {
  test('that was started anew continues with its run, but not while the old one lives', async () => {
    const first = inContainer('run', workflow(THEN), '--run-id', ID);
    await hasBegun();
    const refused = await inContainer('resume', ID).ended;
    expect([refused.code, refused.stderr]).toStrictEqual([64, expect.stringContaining('--take-over')]);
    signalProcess(first.pid, 'SIGKILL');
    await first.ended;
    await until(() => turns().length === 0, 'the container to end');
    open('gate');
    expect(await inContainer('resume', ID).ended).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('--retry'),
    });
    expect(await inContainer('resume', ID, '--retry').ended).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(effects()).toStrictEqual(['begin START.sh', 'begin START.sh', 'end START.sh', 'next']);
  });

  test('in which only Raymond has died keeps its run: the turn may be running', async () => {
    const script = `"$@" & raymond=$!; until [ -e die ]; do sleep 0.02; done; kill -9 $raymond; wait; touch died; sleep 60`;
    const args = [process.execPath, CLI, 'run', workflow(THEN), '--run-id', ID];
    const first = startContainer('/bin/bash', '-c', script, 'bash', ...args);
    await hasBegun();
    open('die');
    await until(() => existsSync(join(home, 'died')), 'Raymond to die');
    const refused = await inContainer('resume', ID).ended;
    expect([refused.code, refused.stderr]).toStrictEqual([64, expect.stringContaining('--take-over')]);
    signalProcess(first.pid, 'SIGKILL');
    await first.ended;
    expect(effects()).toStrictEqual(['begin START.sh']);
  });
});

/** Answers for a dollar each; while it gives its second answer, the disk is full. */
const CLAUDE_ON_A_FULL_DISK = `#!/bin/bash
case " $* " in *" --version "*) echo "2.1.300 (Claude Code)"; exit;; esac
echo '{"type":"system","subtype":"init","session_id":"S","model":"m","claude_code_version":"2.1.300"}'
[ ! -e again ] || cat /dev/zero > .raymond/fill 2>/dev/null
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"S","result":"%5000s <goto>A</goto>","total_cost_usd":1}\\n' x
[ ! -e again ] || rm .raymond/fill
touch again
`;

/** A folder of its own size needs a mount of its own, which not every machine permits. */
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;

describe.skipIf(!canMount)('a disk (needs the right to mount one)', { timeout: 120_000 }, () => {
  /** Runs shell commands where `.raymond` is a small disk of its own; `raymond` is the command. */
  const onSmallDisk = (commands: string): Promise<EndedCommand> => {
    mkdirSync(join(home, '.raymond'));
    const script = `set -u
mount -t tmpfs -o size=128k tmpfs "$PWD/.raymond"
raymond() { ${JSON.stringify(process.execPath)} ${JSON.stringify(CLI)} "$@"; }
${commands}`;
    const child = spawn('unshare', ['-rm', '/bin/bash', '-c', script], {
      cwd: home,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return keep(attend(child)).ended;
  };

  test('stops the run with a clear error if it is full, and a resume continues', async () => {
    const folder = workflow({
      'START.sh': 'echo start >> effects; echo "<goto>NEXT</goto>"; [ -e gate ] || cat /dev/zero > .raymond/fill',
      'NEXT.sh': 'echo next >> effects; echo "<result>done</result>"',
    });
    const { stdout, stderr } = await onSmallDisk(`
raymond run ${folder} --run-id ${ID}; echo "first: $?"
rm .raymond/fill; touch gate
raymond resume ${ID} --retry; echo "second: $?"`);
    expect(stderr).toContain('no space is left on the disk');
    expect(stdout).toMatch(/^first: [1-9]\d*\ndone\nsecond: 0\n$/);
    expect(effects()).toStrictEqual(['start', 'start', 'next']);
    expect(stderr).not.toContain('    at ');
  });

  test('pauses a script if it is full while that runs, and does not fail it', async () => {
    const folder = workflow({
      'START.sh': 'echo start >> effects; [ -e gate ] || cat /dev/zero > .raymond/fill; echo "<result>done</result>"',
    });
    const { stdout, stderr } = await onSmallDisk(`
raymond run ${folder} --run-id ${ID}; echo "first: $?"
rm .raymond/fill; touch gate
raymond resume ${ID}; echo "second: $?"
raymond resume ${ID} --retry; echo "third: $?"`);
    expect(stdout).toBe('first: 3\nsecond: 3\ndone\nthird: 0\n');
    expect(stderr).toContain('[main] paused: the disk was full while the script ran');
    expect(effects()).toStrictEqual(['start', 'start']);
  });

  test('pauses the run if it is full while Claude answers, and the lost result counts as an estimate', async () => {
    const folder = workflow({ 'START.md': 'go', 'A.md': 'work' });
    mkdirSync(join(home, 'bin'));
    writeFileSync(join(home, 'bin', 'claude'), CLAUDE_ON_A_FULL_DISK, { mode: 0o755 });
    const { stdout, stderr } = await onSmallDisk(`
export PATH="$PWD/bin:$PATH" HOME="$PWD"
raymond run ${folder} --run-id ${ID} --no-debug --keep-open 0; echo "code: $?"
raymond status ${ID} | grep cost`);
    expect(stdout).toMatch(/^code: 3\ncost +\$2\.00 of \S+ \(\$1\.00 estimated\)\n/);
    expect(stderr).toContain('[main] paused: The disk was full');
  });

  test('is reported before anything runs if it is read-only', async () => {
    const folder = workflow({ 'START.sh': 'echo start >> effects' });
    const { stdout, stderr } = await onSmallDisk(`
mount -o remount,ro "$PWD/.raymond"
raymond run ${folder} --run-id ${ID}; echo "code: $?"`);
    expect(stdout).toBe('code: 64\n');
    expect(stderr).toContain('the file system is read-only');
    expect(stderr).not.toContain('    at ');
    expect(effects()).toStrictEqual([]);
  });
});

test('a file where .raymond should be is named before anything runs', async () => {
  writeFileSync(join(home, '.raymond'), 'mine');
  const { code, stderr } = await run(GATED).ended;
  expect([code, stderr]).toStrictEqual([64, expect.stringContaining('there is a file where a folder should be')]);
  expect(effects()).toStrictEqual([]);
  expect(statSync(join(home, '.raymond')).isFile()).toBe(true);
});
