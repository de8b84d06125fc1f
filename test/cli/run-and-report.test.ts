import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/program.ts';
import type { Screen, Terminal } from '../../src/render/terminal/terminal.ts';
import { FakeTerminal } from '../render/terminal/live/fake-terminal.ts';

let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'raymond-attend-')));
});

afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

function workflow(files: Record<string, string>): void {
  mkdirSync(join(home, 'wf'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, 'wf', name), text);
}

/** A terminal that keeps what it is told. */
class RecordingTerminal implements Terminal {
  stdout = '';
  stderr = '';
  interrupt: () => void = () => {};
  readonly env = process.env;
  readonly cwd = home;
  readonly screen: Screen | null;
  readonly outIsScreen: boolean;
  private readonly readers = new Set<() => void>();

  constructor(screen: Screen | null = null) {
    this.screen = screen;
    this.outIsScreen = screen !== null;
  }

  readonly out = (text: string): void => {
    this.stdout += text;
  };

  readonly err = (text: string): void => {
    this.stderr += text;
    for (const reader of this.readers) reader();
  };

  readonly onInterrupt = (act: () => void) => {
    this.interrupt = act;
    return () => {};
  };

  /** Waits until something was said on stderr. */
  says(text: string): Promise<void> {
    return new Promise((done) => {
      const look = (): void => {
        if (!this.stderr.includes(text)) return;
        this.readers.delete(look);
        done();
      };
      this.readers.add(look);
      look();
    });
  }
}

async function raymond(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const terminal = new RecordingTerminal();
  const code = await runCli(argv, terminal);
  return { code, out: terminal.stdout, err: terminal.stderr };
}

const TIMES = /\d+\.\ds/g;

describe('piped', () => {
  test('the log and the summary go to stderr in plain lines, the result to stdout unchanged', async () => {
    workflow({
      'START.sh': 'echo "<goto>NEXT</goto>"',
      'NEXT.sh': `printf '<result>\\033[1mr\\033[0m</result>'`,
    });
    const { out, err } = await raymond('wf', '--run-id', 'r1');
    expect(out).toBe('\u001b[1mr\u001b[0m\n');
    expect(err.replaceAll(TIMES, '0.0s').replace(/r1_\d{8}_\d{6}/, 'r1_then')).toBe(`\
run r1: ${join(home, 'wf')}
[main] START.sh
[main] START.sh → NEXT.sh (goto) $0.00
[main] NEXT.sh
[main] NEXT.sh → end (result) $0.00
Completed in 0.0s: 2 turns, $0.00.
            visits  time
  START.sh       1  0.0s
  NEXT.sh        1  0.0s
Debug files: ${join('.raymond', 'debug', 'r1_then')}
`);
  });

  test('a debug folder that could not be created gets a warning, and the summary does not name it', async () => {
    workflow({ 'START.sh': 'echo "<result>r</result>"' });
    mkdirSync(join(home, '.raymond'), { recursive: true });
    writeFileSync(join(home, '.raymond', 'debug'), 'in the way');
    const { code, err } = await raymond('wf', '--run-id', 'r1');
    expect(code).toBe(0);
    expect(err).toContain('debug files cannot be written');
    expect(err).not.toContain('Debug files:');
  });

  test('activities of agents are printed, too, with --verbose', async () => {
    workflow({ 'START.sh': 'echo one; echo "<result>r</result>"' });
    expect((await raymond('wf', '--verbose')).err).toContain('[main] | one\n');
    expect((await raymond('wf')).err).not.toContain('one');
  });

  test('a failure is reported once, with its last output, and the summary adds the command to resume', async () => {
    workflow({ 'START.sh': `echo one >&2; printf '\\033[2Jtwo\\n' >&2; exit 3` });
    const { code, err } = await raymond('wf', '--run-id', 'r1');
    expect(code).toBe(1);
    expect(err).toContain(
      '[main] failed: START.sh: the script ended with exit code 3\n[main]   one\n[main]   two\nFailed after',
    );
    expect(err).toMatch(/\nTo continue: raymond resume r1 --retry\n$/);
    expect(err.match(/exit code 3/g)).toHaveLength(1);
  });

  test('a failure after which other agents continued is repeated at the end', async () => {
    workflow({
      'START.sh': 'echo "<fork next=\\"LATER\\">A</fork>"',
      'A.sh': 'touch failed; exit 3',
      'LATER.sh': 'while [ ! -e failed ]; do sleep 0.02; done; sleep 0.2; echo "<goto>END</goto>"',
      'END.sh': 'echo "<result>r</result>"',
    });
    const { err } = await raymond('wf', '--run-id', 'r1');
    expect(err).toMatch(/\n\[main_a1\] failed: A\.sh: the script ended with exit code 3\nTo continue: /);
  });

  test('--quiet prints only problems', async () => {
    workflow({ 'START.sh': 'echo one >&2; exit 3' });
    const { err } = await raymond('wf', '--run-id', 'r1', '--quiet');
    expect(err).toBe(
      '[main] failed: START.sh: the script ended with exit code 3\none\nTo continue: raymond resume r1 --retry\n',
    );
  });

  test('the results of several agents are labelled, and that of the first agent comes last', async () => {
    workflow({ 'START.sh': 'echo "<fork next=\\"A\\">A</fork>"', 'A.sh': 'echo "<result>$RAYMOND_AGENT_ID</result>"' });
    const { out } = await raymond('wf', '--quiet');
    expect(out).toBe('[main_a1]\nmain_a1\n[main]\nmain\n');
  });

  test('a run that works in another folder is found there', async () => {
    workflow({ 'START.sh': 'echo "<goto>NEXT</goto>"', 'NEXT.sh': 'echo "<result>r</result>"' });
    const elsewhere = join(home, 'else where');
    mkdirSync(join(elsewhere, '.raymond'), { recursive: true });
    const { out, err } = await raymond('wf', '--dir', 'else where', '--run-id', 'r1', '--json');
    expect(JSON.parse(out)).toMatchObject({ run_id: 'r1', transitions: [{ to: 'NEXT.sh' }, { to: null }] });
    expect(err).toContain('2 turns');
    const [, folder = ''] = /Debug files: (.*)\n/.exec(err) ?? [];
    expect(existsSync(join(home, folder, 'transitions.log'))).toBe(true);
    writeFileSync(join(home, 'wf', 'NEXT.sh'), 'exit 1');
    const failed = await raymond('wf', '--dir', 'else where', '--run-id', 'r2');
    expect(failed.err).toContain("To continue: cd 'else where' && raymond resume r2 --retry\n");
  });
});

describe('an observer', () => {
  const TWO = { 'START.sh': 'echo "<goto>NEXT</goto>"', 'NEXT.sh': 'echo "<result>r</result>"' };

  test('does not affect other observers by failing', async () => {
    workflow(TWO);
    const terminal = new RecordingTerminal();
    let broken = 0;
    const out = (): void => {
      broken += 1;
      throw new Error('out of order');
    };
    expect(await runCli(['wf', '--events', '--log-file', 'log'], { ...terminal, out })).toBe(70);
    expect(broken).toBeGreaterThan(1);
    expect(terminal.stderr).toContain('[main] NEXT.sh → end (result) $0.00\n');
    expect(readFileSync(join(home, 'log'), 'utf8')).toContain('run_ended');
  });

  test.skipIf(!existsSync('/dev/full'))(
    'gets one message that the log cannot be written, and all other events',
    async () => {
      workflow(TWO);
      symlinkSync('/dev/full', join(home, 'log'));
      const { code, out, err } = await raymond('wf', '--run-id', 'r1', '--log-file', 'log');
      expect([code, out]).toStrictEqual([0, 'r\n']);
      expect(err.match(/^warning: --log-file log can no longer be written \(ENOSPC\): .*$/gm)).toHaveLength(1);
      expect(err).toContain('[main] START.sh → NEXT.sh (goto) $0.00\n');
    },
  );

  test('reports output that could not be printed, and the run ends normally', async () => {
    workflow(TWO);
    const terminal = new RecordingTerminal();
    expect(await runCli(['wf', '--run-id', 'r1'], { ...terminal, takeWriteError: () => 'ENOSPC' })).toBe(0);
    expect(terminal.stderr).toMatch(
      /\nThe output could not be written \(ENOSPC\); `raymond status r1` shows the results\.\n$/,
    );
  });
});

describe('a run that has already ended', () => {
  test('is not started again, which is reported in one sentence', async () => {
    workflow({ 'START.sh': 'echo "<result>r</result>"' });
    await raymond('wf', '--run-id', 'r1');
    expect(await raymond('resume', 'r1')).toStrictEqual({
      code: 0,
      out: 'r\n',
      err: 'This run has ended already; nothing was started.\n',
    });
  });

  test('is reported with the command that would retry it, if it failed', async () => {
    workflow({ 'START.sh': 'exit 3' });
    await raymond('wf', '--run-id', 'r1');
    expect((await raymond('resume', 'r1')).err).toBe(
      'This run has ended already; nothing was started.\n[main] failed: START.sh: the script ended with exit code 3\nTo continue: raymond resume r1 --retry\n',
    );
  });
});

describe('in a terminal', () => {
  test('the block is gone at the end, results cannot control the terminal, and its title is restored', async () => {
    workflow({ 'START.sh': `printf '<result>\\033[2J\\033]0;owned\\007r</result>'` });
    const screen = new FakeTerminal();
    const terminal = new RecordingTerminal(screen);
    await runCli(['wf', '--run-id', 'r1'], terminal);
    expect(terminal.stdout).toBe('r\n');
    expect(screen).toMatchObject({
      title: 'shell',
      isWatched: false,
      text: `run r1: ${join(home, 'wf')}\n[main] START.sh → end (result) $0.00`,
    });
    expect(terminal.stderr).toMatch(/^\n\nCompleted in/);
  });

  test.each([['--events'], ['--quiet']])('%s shows no live view', async (flag) => {
    workflow({ 'START.sh': 'echo "<result>r</result>"' });
    const screen = new FakeTerminal();
    await runCli(['wf', flag], new RecordingTerminal(screen));
    expect(screen.writes).toStrictEqual([]);
  });

  test('an error before the start changes nothing on the screen', async () => {
    const screen = new FakeTerminal();
    const terminal = new RecordingTerminal(screen);
    expect(await runCli(['nowhere'], terminal)).toBe(64);
    expect(screen.writes).toStrictEqual([]);
    expect(screen.isWatched).toBe(false);
  });
});

test('a first Ctrl-C lets the turn finish, and the summary says how to resume', async () => {
  workflow({
    'START.sh': 'while [ ! -e go ]; do sleep 0.02; done; echo "<goto>NEXT</goto>"',
    'NEXT.sh': 'echo "<result>r</result>"',
  });
  const terminal = new RecordingTerminal();
  const over = runCli(['wf', '--run-id', 'r1'], terminal);
  await terminal.says('[main] START.sh\n');
  terminal.interrupt();
  await terminal.says('press Ctrl-C again');
  writeFileSync(join(home, 'go'), '');
  expect(await over).toBe(130);
  expect(terminal.stderr).toContain('[main] START.sh → NEXT.sh (goto) $0.00\nInterrupted after');
  expect(terminal.stderr).toMatch(/\nTo continue: raymond resume r1\n$/);
});
