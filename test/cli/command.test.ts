import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const CLI = join(import.meta.dirname, '..', '..', 'dist', 'raymond.js');

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'raymond-cli-'));
});

afterEach(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }));

interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

const raymond = (...args: string[]): Promise<CommandResult> =>
  new Promise((done) => {
    execFile(process.execPath, [CLI, ...args], { cwd: home }, (error, out, err) => {
      done({ code: error === null ? 0 : Number(error.code), out, err });
    });
  });

function workflow(files: Record<string, string>): void {
  mkdirSync(join(home, 'wf'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, 'wf', name), text);
}

describe('raymond WORKFLOW', () => {
  test.each([['wf'], ['run', 'wf'], ['start', 'wf'], ['wf/START.sh']])(
    '%s %s runs the workflow: the result on stdout, the log on stderr',
    async (...args) => {
      workflow({ 'START.sh': 'echo "<result>got $RAYMOND_RESULT</result>"' });
      const said = await raymond(...args.filter((arg) => arg !== undefined), '--input', 'x');
      expect(said).toMatchObject({ code: 0, out: 'got x\n' });
      expect(said.err).toContain('[main] START.sh → end (result) $0.00');
    },
  );

  test('prints nothing but the result with --quiet', async () => {
    workflow({ 'START.sh': 'echo "<result>r</result>"' });
    expect(await raymond('wf', '--quiet')).toStrictEqual({ code: 0, out: 'r\n', err: '' });
  });

  test('prints one document about the whole run with --json, from a run and from a resume alike', async () => {
    workflow({ 'START.sh': 'echo "<goto>NEXT</goto>"', 'NEXT.sh': 'exit 2' });
    const first = await raymond('wf', '--json', '--run-id', 'r1');
    expect(first.code).toBe(1);
    const document: unknown = JSON.parse(first.out);
    expect(document).toMatchObject({
      run_id: 'r1',
      status: 'failed',
      exit_code: 1,
      results: {},
      cost_usd: 0,
      agents: [{ id: 'main', status: 'failed', state: 'NEXT.sh', result: null }],
      transitions: [{ agent: 'main', from: 'START.sh', tag: 'goto', to: 'NEXT.sh', cost_usd: 0 }],
    });
    const again = await raymond('resume', 'r1', '--json');
    expect(again.code).toBe(1);
    expect(JSON.parse(again.out)).toStrictEqual(document);
    expect(first.err).toContain('To continue: raymond resume r1 --retry');
  });

  test('streams every event as a line of JSON with --events', async () => {
    workflow({ 'START.sh': 'echo "<result>r</result>"' });
    const { out } = await raymond('wf', '--events', '--quiet');
    const kinds = out
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(kinds).toStrictEqual([
      'run_started',
      'agent_started',
      'turn_started',
      'turn_ended',
      'transition',
      'agent_ended',
      'run_ended',
    ]);
  });

  test('stops at the limit of iterations with exit 4, and continues with a higher limit', async () => {
    workflow({
      'START.sh': 'echo x >> n; [ $(wc -l < n) -lt 3 ] && echo "<reset>START</reset>" || echo "<result>r</result>"',
    });
    expect((await raymond('wf', '--max-iterations', '1')).code).toBe(4);
    expect(await raymond('--resume', 'last', '--max-iterations', '9', '--quiet')).toMatchObject({
      code: 0,
      out: 'r\n',
    });
  });
});

test('prints warnings about the workflow and runs it', async () => {
  workflow({ 'START.sh': 'echo "<result>r</result>"', 'OTHER.md': '---\nmodle: opus\n---\nx' });
  writeFileSync(join(home, 'answers.yaml'), 'answers: {}\n');
  const { code, err } = await raymond('wf', '--agent', 'replay:answers.yaml');
  expect(code).toBe(0);
  expect(err).toContain('warning: OTHER.md:2:1: ');
  expect(err).toContain('did you mean model?');
});

test('continues if its output is no longer read', async () => {
  workflow({
    'START.sh': 'echo x >> n; [ $(wc -l < n) -lt 30 ] && echo "<reset>START</reset>" || echo "<result>r</result>"',
  });
  const child = spawn(process.execPath, [CLI, 'wf', '--events'], { cwd: home });
  child.stdout.once('data', () => child.stdout.destroy());
  child.stderr.once('data', () => child.stderr.destroy());
  expect(await new Promise((done) => child.on('exit', done))).toBe(0);
});

test('warns whenever Claude Code may do anything, and a mode named later takes that back', async () => {
  workflow({ 'START.sh': 'exit 1' });
  expect((await raymond('wf', '--run-id', 'r1', '--dangerously-skip-permissions')).err).toContain('may do anything');
  expect((await raymond('resume', 'r1', '--retry')).err).toContain('may do anything');
  expect((await raymond('resume', 'r1', '--retry', '--permission-mode', 'plan')).err).not.toContain('may do anything');
});

test('an ended run is shown even if its workflow is gone', async () => {
  workflow({ 'START.sh': 'echo "<result>r</result>"' });
  await raymond('wf', '--run-id', 'r1');
  rmSync(join(home, 'wf'), { recursive: true });
  expect(await raymond('resume', 'r1')).toMatchObject({ code: 0, out: 'r\n' });
});

describe('the first Ctrl-C', () => {
  test('lets the running turn finish, and the second ends it; both exit 130', async () => {
    workflow({
      'START.sh': 'touch here; while [ ! -e go ]; do sleep 0.02; done; echo "<goto>NEXT</goto>"',
      'NEXT.sh': 'echo "<result>n</result>"',
    });
    const run = async (afterFirst: (kill: () => void) => void): Promise<CommandResult> => {
      rmSync(join(home, 'here'), { force: true });
      const child = spawn(process.execPath, [CLI, 'wf'], { cwd: home });
      let err = '';
      let interrupted = false;
      child.stderr.on('data', (chunk: Buffer) => {
        err += chunk.toString();
        if (err.includes('[main] START.sh') && !interrupted) {
          interrupted = true;
          child.kill('SIGINT');
        } else if (err.includes('press Ctrl-C again')) afterFirst(() => child.kill('SIGINT'));
      });
      const code = await new Promise<number>((done) => child.on('exit', (status) => done(status ?? -1)));
      return { code, out: '', err };
    };
    let sent = false;
    const second = await run((kill) => {
      if (!sent) kill();
      sent = true;
    });
    expect(second.code).toBe(130);
    expect(second.err).toContain('ending the running turns');
    const first = await run(() => writeFileSync(join(home, 'go'), ''));
    expect(first.code).toBe(130);
    expect(first.err).toContain('[main] START.sh → NEXT.sh (goto)');
    expect(await raymond('resume', 'last', '--quiet')).toMatchObject({ code: 0, out: 'n\n' });
  });
});

test.each([
  [['help'], /^Usage: raymond WORKFLOW/],
  [['help', 'list'], /^Usage: raymond list/],
  [['wf', '--help'], /^Usage: raymond run/],
  [['resume', '-h'], /^Usage: raymond resume/],
  [['-v'], /^\d+\.\d+\.\d+\n$/],
])('%j is understood', async (args, said) => {
  const { code, out } = await raymond(...args);
  expect(code).toBe(0);
  expect(out).toMatch(said);
});

describe('an error of a new user', () => {
  test.each<[string, string[], number, RegExp]>([
    [
      'nothing at all',
      [],
      64,
      /name a workflow or a command\nUsage: raymond WORKFLOW.*\n {2}resume .*\n {2}lint .*\n {2}serve /s,
    ],
    ['no workflow', ['run'], 64, /there is no workflow to run\nSee raymond run --help/],
    ['a mistyped command', ['lst'], 64, /there is no command or workflow `lst`\nDid you mean `raymond list`\?/],
    ['one of two commands', ['lit', 'wf'], 64, /Did you mean `raymond list` or `raymond lint`\?/],
    ['half a command', ['stat'], 64, /Did you mean `raymond start` or `raymond status`\?/],
    ['a state that is not there', ['wf/STRAT'], 64, /there is no .*wf\/STRAT\nDid you mean START\?/],
    ['a folder that is not there', ['wf', '--dir', 'nowhere'], 64, /--dir nowhere is not a folder\nCreate it first/],
    ['a word too many', ['list', 'x'], 64, /list takes no arguments: `x` is one too many/],
    ['a workflow that is not there', ['wff'], 64, /there is no command or workflow `wff`\nDid you mean wf\?/],
    ['a folder of workflows', ['flows'], 65, /no state to start in.*\nWorkflows in this folder: flows\/issues\.\n$/],
    ['a workflow in a folder of workflows', ['issues'], 64, /Did you mean `raymond flows\/issues`\?/],
    ['a folder with the name of a workflow', ['news'], 65, /no state to start in.*\nDid you mean flows\/news\?\n$/],
    ['a word of other programs', ['ps'], 64, /there is no command or workflow `ps`\nDid you mean `raymond list`\?/],
    [
      'an unknown command with an argument',
      ['frobnicate', 'x'],
      64,
      /no command or workflow `frobnicate`\nA workflow is/,
    ],
    ['a folder to work in that is not there', ['-C', 'nope', 'list'], 64, /-C .*nope is not a folder/],
    ['a text without --input', ['wf', "it's", 'it'], 64, /many\nTo give it .*: raymond wf --input 'it'\\''s it'\n/],
    [
      'an input file that is not there',
      ['wf', '--input', '@nope'],
      64,
      /--input @nope: the file cannot be read \(ENOENT\)/,
    ],
    ['an input that is no text', ['wf', '--input', '@raw'], 64, /--input: raw is not text in UTF-8/],
    ['a misspelt option', ['wf', '--bugdet', '3'], 64, /unknown option '--bugdet' \(did you mean --budget\?\)/i],
    ['a budget that is no number', ['wf', '--budget', 'ten'], 64, /--budget must be a number of at least 0, not `ten`/],
    ['a variable without a value', ['wf', '--var', 'x'], 64, /--var must be name=value, not `x`/],
    ['an id that cannot be one', ['wf', '--run-id', 'a/b'], 64, /`a\/b` cannot be a run's id/],
    ['a run nobody knows', ['resume', 'nope'], 64, /no such run: nope/],
    ['json and events at once', ['wf', '--json', '--events'], 64, /--json and --events both write to stdout/],
    ['a word of the other verb', ['wf', '--retry'], 64, /--retry cannot be used with run/],
    ['two runs to continue with', ['wf', '--resume', 'a1'], 64, /give --resume a1 or the workflow wf, not both/],
    ['two workflows', ['wf', 'wf2'], 64, /run takes one workflow at a time: `wf2` is one too many/],
    ['a claude that is not there', ['prompts', '--claude', './nope'], 64, /There is no Claude Code at .\/nope/],
    ['an invalid workflow', ['broken'], 65, /broken cannot be run: 1 error\nbroken\/START.md:2:8: .*\n/],
    ['an invalid workflow in one file', ['void.yaml'], 65, /void.yaml cannot be run: 1 error\nvoid.yaml:1:11: .*\n$/],
  ])('%s', async (_, args, code, message) => {
    workflow({ 'START.sh': 'echo "<result>r</result>"' });
    mkdirSync(join(home, 'broken'));
    writeFileSync(join(home, 'broken', 'START.md'), '---\nmodel: [1]\n---\nx');
    writeFileSync(join(home, 'void.yaml'), 'states: { START: { sh: null } }');
    writeFileSync(join(home, 'raw'), Buffer.of(0xff));
    mkdirSync(join(home, 'prompts'));
    writeFileSync(join(home, 'prompts', 'START.md'), 'x');
    mkdirSync(join(home, 'flows', 'issues'), { recursive: true });
    writeFileSync(join(home, 'flows', 'issues', 'START.md'), 'x');
    if (args.includes('news')) {
      for (const folder of ['news', 'flows/news']) mkdirSync(join(home, folder));
      writeFileSync(join(home, 'flows', 'news', 'START.md'), 'x');
    }
    const said = await raymond(...args);
    expect(said.code).toBe(code);
    expect(said.err).toMatch(message);
    expect(said.out).toBe('');
    expect(existsSync(join(home, '.raymond', 'state'))).toBe(false);
  });

  test('a taken run id', async () => {
    workflow({ 'START.sh': 'echo "<result>r</result>"' });
    await raymond('wf', '--run-id', 'r1');
    const said = await raymond('wf', '--run-id', 'r1');
    expect(said.code).toBe(64);
    expect(said.err).toContain('A run r1 already exists.');
  });
});

test('--help and --version print help and version', async () => {
  expect((await raymond('--help')).out).toContain('Usage:');
  expect((await raymond('-V')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});
