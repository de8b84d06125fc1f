import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Event } from '../../src/core/run/event.ts';
import { createLiveReporter } from '../../src/render/terminal/live/live-reporter.ts';
import { RunDriver, usd } from '../core/run-driver.ts';
import { FakeClock, FakeTerminal } from '../render/terminal/live/fake-terminal.ts';

const BOOK = { files: ['START.md', 'CHECK.sh'] };

function setUp({ verbose = false, columns = 62 } = {}) {
  const terminal = new FakeTerminal(columns);
  const clock = new FakeClock();
  const show = createLiveReporter(terminal, verbose, clock);
  const tell = (events: readonly Event[]): void => {
    for (const event of events) show.observe(event);
    clock.advance(100);
  };
  const press = (key: string, typed = ''): boolean => terminal.onKeyPressed?.(key, typed) ?? false;
  return { terminal, clock, show, tell, press };
}

describe('the live view', () => {
  test('keeps current activity at the bottom while log lines scroll away', () => {
    const { terminal, clock, show, tell } = setUp();
    const driver = new RunDriver(BOOK).answer({ text: '<goto>CHECK</goto>', cost: usd(0.5) });
    driver.begin('main');
    tell(driver.events);
    show.watch?.({ at: 5000, agent: 'main', doing: { kind: 'prints', text: 'all\u001b[2J well' } });
    clock.advance(2000);
    expect(terminal.text).toBe(`\
run run-1: /w/book
[main] START.md → CHECK.sh (goto) $0.50
── run-1 ────────────────────────────────────── ? for keys ──
⠹ main  CHECK.sh  all well                        0:00  $0.50
0:01  $0.50 of $10.00  1 running`);
    expect(terminal.title).toBe('raymond: book — CHECK.sh $0.50');
    tell(driver.reply('main', '<result>r</result>').events.slice(-4));
    show.close();
    expect(terminal).toMatchObject({
      title: 'shell',
      text: 'run run-1: /w/book\n[main] START.md → CHECK.sh (goto) $0.50\n[main] CHECK.sh → end (result) $0.00',
    });
  });

  test('prints all output of agents with --verbose, each line with its agent', () => {
    const { terminal, clock, show } = setUp({ verbose: true });
    show.watch?.({ at: 1, agent: 'main_w1', doing: { kind: 'says', text: 'one\n\u001b[31mtwo' } });
    show.watch?.({ at: 2, agent: 'main', doing: { kind: 'uses', tool: 'Bash', detail: 'npm test' } });
    clock.advance(100);
    expect(terminal.text).toBe('[main_w1] | one\n[main_w1] | two\n[main] > Bash npm test');
    show.close();
  });

  test('shows a resumed run with its name, its agents and its costs', async () => {
    const { terminal, clock, show, tell } = setUp();
    const driver = new RunDriver(BOOK).answer({ text: '<fork next="CHECK">CHECK</fork>', cost: usd(2) });
    driver.apply({ kind: 'stopped', at: 3000, by: 'interrupted' });
    const past = [...driver.events];
    driver.resume().begin('main');
    let recall: (events: readonly Event[]) => void = () => {};
    const recalled = new Promise<readonly Event[]>((done) => {
      recall = done;
    });
    show.loadPast?.(
      (async function* () {
        yield* await recalled;
      })(),
    );
    tell(driver.events.slice(past.length));
    expect(terminal.text).toBe('the run is resumed');
    recall(past);
    await setImmediate();
    clock.advance(2000);
    expect(terminal.text).toContain('── run-1 ──');
    expect(terminal.text).toMatch(/main {9}CHECK\.sh {2}running.* \$2\.00\n· main_check1 {2}CHECK\.sh {2}waiting\n/);
    expect(terminal.text).toContain('$2.00 of $10.00');
    show.close();
  });

  test('stands still while it is frozen, and then shows what has happened meanwhile', () => {
    const { terminal, clock, show, tell, press } = setUp({ columns: 80 });
    const driver = new RunDriver(BOOK);
    driver.begin('main');
    tell(driver.events);
    press('space');
    const before = terminal.text.replace('frozen', '');
    expect(terminal.text).toMatch(/^run run-1.*\n── run-1 ─+ frozen \(space continues\) ──\n⠋ main/);
    tell(driver.reply('main', '<goto>CHECK</goto>').events.slice(2));
    clock.advance(5000);
    expect(terminal.text).toContain('frozen (space continues), 1 line to come');
    expect(terminal.text.split('\n').slice(2)).toStrictEqual(before.split('\n').slice(2));
    press('space');
    expect(terminal.text).toMatch(
      /^run run-1.*\n\[main\] START\.md → CHECK\.sh \(goto\) \$0\.00\n── run-1 ─+ \? for keys ──\n/,
    );
    press('space');
    show.interrupt(1);
    clock.advance(100);
    expect(terminal.text).toContain('interrupted: waiting for');
    show.close();
    expect(terminal.onKeyPressed).toBeUndefined();
  });

  test('shows its keys when asked', () => {
    const { terminal, show, tell, press } = setUp({ columns: 80 });
    const driver = new RunDriver(BOOK);
    driver.begin('main');
    tell(driver.events);
    press('?');
    expect(terminal.text).toContain('↑ ↓ PgUp PgDn scroll · a answers a question · s says something to an agent');
    press('?');
    expect(terminal.text).not.toContain('PgUp');
    show.close();
  });

  test('shows the effect of a Ctrl-C immediately', () => {
    const { terminal, clock, show, tell } = setUp({ columns: 80 });
    const driver = new RunDriver(BOOK);
    driver.begin('main');
    tell(driver.events);
    show.interrupt(1);
    clock.advance(100);
    expect(terminal.text).toContain('interrupted: waiting for 1 turn to end; Ctrl-C again ends it now');
    show.interrupt(2);
    clock.advance(100);
    expect(terminal.text).toContain('ending 1 turn');
    show.close();
  });
});

/** Runs a command in a real terminal; not every machine has it, or has this one. */
const SCRIPT = 'script';
const hasScript = spawnSync(SCRIPT, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;
const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');

describe.skipIf(!hasScript)('in a real terminal', () => {
  let home: string;

  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'raymond-live-'));
    mkdirSync(join(home, 'wf'));
    writeFileSync(
      join(home, 'wf', 'START.sh'),
      // Whoever outlives the test leaves with its folder.
      'touch here; while [ -e here ] && [ ! -e go ]; do sleep 0.02; done; echo "<result>r</result>"',
    );
  });

  afterEach(() => {
    writeFileSync(join(home, 'go'), '');
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  /** Starts a run and does something once it is on the screen; gives all that was written to the terminal. */
  const watch = (act: (pid: number) => void, before = 'env TERM=xterm LANG=C.UTF-8'): Promise<string> =>
    new Promise((done) => {
      const command = `${before} ${process.execPath} ${CLI} wf --run-id r1`;
      const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], {
        cwd: home,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let written = '';
      let acted = false;
      child.stdout.on('data', (chunk: Buffer) => {
        written += chunk.toString();
        if (acted || !written.includes('1 running')) return;
        acted = true;
        act(ownerOf('r1'));
      });
      child.on('close', () => done(written));
    });

  const ownerOf = (run: string): number => {
    const folder = join(home, '.raymond', 'runs', run);
    const owner = readdirSync(folder).find((name) => name.startsWith('owner.')) ?? '';
    return (JSON.parse(readFileSync(join(folder, owner), 'utf8')) as { pid: number }).pid;
  };

  test.each<[string, (pid: number) => void]>([
    ['ends', () => writeFileSync(join(home, 'go'), '')],
    [
      'is told to end',
      (pid) => {
        process.kill(pid, 'SIGTERM');
        writeFileSync(join(home, 'go'), '');
      },
    ],
    ['is ended by Ctrl-\\', (pid) => process.kill(pid, 'SIGQUIT')],
  ])('the title is restored when the run %s, and the cursor was never hidden', async (_, act) => {
    const written = await watch(act);
    expect(written).not.toContain('\u001b[?25l');
    expect(written.lastIndexOf('\u001b[23;2t')).toBeGreaterThan(written.lastIndexOf('\u001b]2;'));
  });

  test.each<[string, (type: (keys: string) => void, pid: number) => void]>([
    ['ends', () => finish()],
    ['is interrupted by the key Ctrl-C', (type) => [type('\u0003'), finish()]],
    ['is ended by the key Ctrl-\\', (type) => type('\u001c')],
    ['is told to end', (_, pid) => [process.kill(pid, 'SIGTERM'), finish()]],
    ['loses its terminal', (_, pid) => process.kill(pid, 'SIGHUP')],
  ])('keys work, and the terminal has its mode back when the run %s', async (_, end) => {
    // The shell gets the signals of the keys too, and not every shell survives them.
    const command = `trap : INT QUIT; env TERM=xterm LANG=C.UTF-8 ${process.execPath} ${CLI} wf --run-id r1; stty -a`;
    const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], { cwd: home, stdio: ['pipe', 'pipe', 'inherit'] });
    const type = (keys: string): boolean => child.stdin.write(keys);
    const steps: [RegExp, () => void][] = [
      [/1 running/, () => type('?')],
      [/PgUp PgDn scroll/, () => end(type, ownerOf('r1'))],
      [/-?\bicanon\b/, () => child.stdin.end()],
    ];
    let written = '';
    child.stdout.on('data', (chunk: Buffer) => {
      written += chunk.toString();
      if (steps[0]?.[0].test(written)) steps.shift()?.[1]();
    });
    await new Promise((done) => child.on('close', done));
    const mode = written.slice(written.lastIndexOf('speed')).split(/[\s;]+/);
    expect(mode).toEqual(expect.arrayContaining(['icanon', 'isig', 'echo', 'icrnl']));
  });

  test('a question is answered in place, with the editor of the user', async () => {
    writeFileSync(join(home, 'wf', 'START.sh'), `echo '<ask next="NEXT">Publish it?</ask>'`);
    writeFileSync(join(home, 'wf', 'NEXT.sh'), 'echo "<result>got $RAYMOND_INPUT</result>"');
    writeFileSync(join(home, 'edit.sh'), 'sed -i "1s/$/, and more/" "$1"; kill -INT $(cat pid)');
    const command = `env TERM=xterm NO_COLOR=1 LANG=C.UTF-8 VISUAL= EDITOR='sh edit.sh' ${process.execPath} ${CLI} wf --run-id r1; echo code $?`;
    const child = spawn(SCRIPT, ['-qec', command, '/dev/null'], { cwd: home, stdio: ['pipe', 'pipe', 'inherit'] });
    const steps: [RegExp, string][] = [
      [/press a to answer/, 'a'],
      [/Enter: send/, 'Yes'],
      [/> Yes/, '\u0007'],
      [/and more/, '\r'],
    ];
    let written = '';
    child.stdout.on('data', (chunk: Buffer) => {
      written += chunk.toString();
      if (steps.length === 4 && written.includes('press a')) writeFileSync(join(home, 'pid'), String(ownerOf('r1')));
      if (steps[0]?.[0].test(written)) child.stdin.write(steps.shift()?.[1] ?? '');
      if (written.includes('code ')) child.stdin.end();
    });
    await new Promise((done) => child.on('close', done));
    expect(written).toContain('got Yes, and more');
    expect(written).toContain('code 0');
  });

  test('without keys, a run that asks ends and says how to answer', async () => {
    writeFileSync(join(home, 'wf', 'START.sh'), `echo '<ask next="START">Publish it?</ask>'`);
    const command = `${process.execPath} ${CLI} wf --run-id r1 </dev/null; echo code $?`;
    const { stdout } = spawnSync(SCRIPT, ['-qec', command, '/dev/null'], { cwd: home, encoding: 'utf8' });
    expect(stdout).toContain('raymond answer r1 main-1 "TEXT" --resume');
    expect(stdout).toContain('code 2');
  });

  const finish = (): void => writeFileSync(join(home, 'go'), '');

  test('the live view is shown if the terminal has a name, and uses Unicode if the locale allows it', async () => {
    const written = await watch(finish);
    expect(written).toContain('── r1 ──');
    expect(written).toContain('\u001b7');
  });

  test.each(['env -u TERM', 'env TERM=dumb'])('plain lines are printed with %s', async (before) => {
    finish();
    const written = await watch(() => {}, before);
    expect(written).not.toContain('\u001b');
    expect(written).toContain('[main] START.sh');
  });

  test('symbols are ASCII if the locale has no others', async () => {
    const written = await watch(finish, 'env -u LC_ALL -u LC_CTYPE TERM=xterm LANG=C');
    expect(written).toContain('-- r1 --');
    expect(Buffer.byteLength(written)).toBe(written.length);
  });
});
