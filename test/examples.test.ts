/** Every example is played: the commands of its README, with the scripted agent, on scripts that really run. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMAND_TABLE } from '../src/cli/command-table.ts';
import { runCli } from '../src/cli/program.ts';
import { isPrompt } from '../src/language/state-names.ts';
import { openWorkflow } from '../src/workflow/workflow.ts';
import { type CliProject, newCliProject } from './cli/cli-project.ts';
import { readPage } from './docs/page.ts';
import { openTestProject } from './scenario/test-project.ts';
import { worktreesFolder } from './worktrees-folder.ts';

const EXAMPLES = join(import.meta.dirname, '..', 'examples');
const NAMES = readdirSync(EXAMPLES).filter((name) => /^[a-z]/.test(name));

interface ExampleRun {
  readonly status: string;
  readonly results: Readonly<Record<string, string>>;
  readonly cost_usd: number;
  readonly agents: readonly { worktree: unknown }[];
  readonly transitions: readonly { agent: string; from: string; tag: string; to: string | null }[];
}

/** The blocks of commands in an example's README. */
const commandsOf = (name: string, more = ''): string =>
  readPage(readFileSync(join(EXAMPLES, name, 'README.md'), 'utf8'))
    .flatMap(({ blocks }) => blocks)
    .filter((block) => block.kind === 'sh' && block.name === more)
    .map(({ text }) => text)
    .join('\n');

/** What somebody has who tries an example: a clone, and beside it the folder in which the example works. */
interface ExampleCopy {
  readonly clone: string;
  readonly project: CliProject;
  /** A path in the folder of the example. */
  readonly at: (file: string) => string;
}

function copyExample(name: string): ExampleCopy {
  const project = newCliProject();
  const clone = join(project.cwd, 'clone');
  mkdirSync(clone);
  cpSync(EXAMPLES, join(clone, 'examples'), { recursive: true });
  return { clone, project, at: (file) => join(project.cwd, 'try', name, file) };
}

/** Does what the README says; the last command is the run. It leaves nothing in the clone. */
async function follow({ clone, project }: ExampleCopy, commands: string): Promise<ExampleRun> {
  const lines = commands.split('\n');
  const run = lines.at(-1)?.split(' ') ?? [];
  execFileSync('/bin/bash', ['-ec', lines.slice(0, -1).join('\n')], { cwd: clone });
  expect(run[0]).toBe('raymond');
  const terminal = { ...project.terminal(), cwd: clone };
  const code = await runCli([...run.slice(1), '--json'], terminal);
  const { out, err } = terminal.output();
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).not.toContain('warning');
  expect(readdirSync(clone)).toStrictEqual(['examples']);
  return JSON.parse(out) as ExampleRun;
}

/** The way of one agent: `START.md goto CHECK.sh goto …`. */
const pathOf = ({ transitions }: ExampleRun, agent = 'main'): string =>
  transitions
    .filter((each) => each.agent === agent)
    .map(({ from, tag, to }, index) => `${index === 0 ? `${from} ` : ''}${tag} ${to ?? 'end'}`)
    .join(' ');

const read = ({ at }: ExampleCopy, file: string): string => readFileSync(at(file), 'utf8');

/** The path of an example: its folder, or the file in it that is the whole workflow. */
const workflowOf = (name: string): string =>
  existsSync(join(EXAMPLES, name, `${name}.yaml`)) ? `${name}/${name}.yaml` : name;

test.each(NAMES)('%s is a valid workflow without findings, and all its states are reachable', async (name) => {
  const { findings, source, entry } = await openWorkflow(join(EXAMPLES, workflowOf(name)), 'unix');
  expect(findings).toStrictEqual([]);
  const states = source.files.flatMap((file) => (file.kind === 'state' ? [file] : []));
  const mentioned = (name: string) =>
    states.some(({ file, text }) => file !== name && text.includes(name.slice(0, -3)));
  // The states of workflows that it calls are theirs.
  const own = states.filter(({ file }) => !file.includes('/'));
  expect(own.filter(({ file }) => file !== entry && !mentioned(file))).toStrictEqual([]);
});

test.each(NAMES.filter((name) => existsSync(join(EXAMPLES, name, 'answers.yaml'))))(
  '%s has prompts that say what to do, when to stop and how to answer',
  async (name) => {
    const { source } = await openWorkflow(join(EXAMPLES, workflowOf(name)), 'unix');
    const prompts = source.files.flatMap((file) => (file.kind === 'state' && isPrompt(file.file) ? [file] : []));
    expect(prompts.length).toBeGreaterThan(0);
    for (const { file, text } of prompts) {
      // An evaluator has the policy of the state.
      if (!text.includes('<confirm>')) expect(text, file).toContain('allowed_transitions:');
      expect(text, file).toMatch(/STOP|[Cc]hange nothing|Do not (write or )?change any file/);
    }
  },
);

describe('the commands of an example', () => {
  test.each(NAMES.filter((name) => existsSync(join(EXAMPLES, name, 'answers.yaml'))))(
    'for Claude Code are valid: %s',
    (name) => {
      const [, example, ...words] = commandsOf(name, 'claude').split('\n').at(-1)?.split(' ') ?? [];
      expect(example).toBe(`examples/${workflowOf(name)}`);
      const flags = COMMAND_TABLE.find((entry) => entry.name === 'run')?.flags.map(([form]) => form.split(' ')[0]);
      expect(flags).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith('--'))));
    },
  );

  test('plan-then-implement: a plan, then one step after the other, each in a fresh conversation', async () => {
    const copy = copyExample('plan-then-implement');
    const run = await follow(copy, commandsOf('plan-then-implement'));
    expect(pathOf(run)).toBe('START.md reset IMPLEMENT.md reset IMPLEMENT.md goto REPORT.md result end');
    expect(run.results).toStrictEqual({ main: 'A function that greets by name, or the world, with tests.' });
    expect(run.cost_usd).toBe(0.2);
    expect(read(copy, 'plan.md')).not.toContain('[ ]');
    expect(execFileSync(process.execPath, ['--test'], { cwd: copy.at('.'), env: withoutVitest() }).toString()).toMatch(
      /pass 2/,
    );
  });

  test('review-loop: the gate sends the work back once', async () => {
    const copy = copyExample('review-loop');
    const run = await follow(copy, commandsOf('review-loop'));
    expect(pathOf(run)).toBe(
      'START.md function EVALUATE.md result DECIDE.md function EVALUATE.md result DECIDE.md result end',
    );
    expect(run.results.main).toContain('it passed its review');
    expect(run.cost_usd).toBe(0.16);
    const { slug } = (await import(copy.at('slug.mjs'))) as { slug: (title: string) => string };
    expect(slug('  Why?  Oh,  why ')).toBe('why-oh-why');
  });

  test('evaluators: a pattern, a gate and a judge each send the agent back once', async () => {
    const copy = copyExample('evaluators');
    const run = await follow(copy, commandsOf('evaluators'));
    expect(pathOf(run)).toBe(`START.md${' goto FIX.md goto START.md'.repeat(3)} result end`);
    expect(run.transitions.map((each) => ('decider' in each ? each.decider : undefined))).toStrictEqual([
      'match `TODO|TBD`',
      null,
      'CHECK.sh',
      null,
      'JUDGE.md',
      null,
      null,
    ]);
    expect(read(copy, 'notes.md')).toContain('starts faster (#15)');
  });

  test('poll: every request is answered under its name, then the run stops', async () => {
    const copy = copyExample('poll');
    const run = await follow(copy, commandsOf('poll'));
    expect(pathOf(run)).toBe('START.sh reset HANDLE.md reset START.sh result end');
    expect(run.results).toStrictEqual({ main: 'stopped; requests done: 1' });
    expect(readdirSync(copy.at('done'))).toStrictEqual(['question']);
    expect(readdirSync(copy.at('inbox'))).toStrictEqual([]);
  });

  test('fork-workers: one worker for each line, side by side, and their results are joined', async () => {
    const copy = copyExample('fork-workers');
    const run = await follow(copy, commandsOf('fork-workers'));
    expect(pathOf(run)).toBe('START.sh fork-each MERGE.md result end');
    expect(run.results).toStrictEqual({
      main: 'overview.md',
      main_worker1: 'This is what main_worker1 knows about yeast.',
      main_worker2: 'This is what main_worker2 knows about salt.',
      main_worker3: 'This is what main_worker3 knows about flour.',
    });
    expect(read(copy, 'overview.md')).toContain('This is what main_worker2 knows about salt.\n');
  });

  test('worktrees: two workers change the same line, and a prompt resolves the conflict', async () => {
    const copy = copyExample('worktrees');
    const run = await follow(copy, commandsOf('worktrees'));
    expect(pathOf(run)).toBe('START.sh fork MERGE.sh goto RESOLVE.md goto CONCLUDE.sh goto MERGE.sh result end');
    expect(run.results).toMatchObject({ main_greet1: 'German', main_greet2: 'French' });
    expect(run.agents.map(({ worktree }) => worktree)).toMatchObject([
      null,
      { kept: true, commits: 1, dirty: false },
      { kept: true, commits: 1, dirty: false },
    ]);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: copy.at('.'), encoding: 'utf8' });
    expect(git('show', 'HEAD:greetings.txt')).toBe('Good day!\nGuten Tag!\nBonjour !\n');
    expect([git('rev-list', '--count', 'HEAD'), git('status', '--porcelain')]).toStrictEqual(['4\n', '']);
    const worktrees = async (...argv: string[]) => {
      const terminal = { ...copy.project.terminal(), cwd: copy.at('.') };
      await runCli(['worktrees', ...argv], terminal);
      return terminal.output();
    };
    expect((await worktrees('--prune', '--yes')).out).toBe('Removed 2 worktrees.\n');
    expect([git('worktree', 'list').split('\n').length, git('branch', '--list', 'raymond/*')]).toStrictEqual([2, '']);
  });

  test('workspace: the branch of the run is pushed, and its clone is gone', async () => {
    const copy = copyExample('workspace');
    const run = await follow(copy, commandsOf('workspace'));
    expect(pathOf(run)).toBe('START.md goto COMMIT.sh result end');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: copy.at('upstream'), encoding: 'utf8' });
    expect(git('show', `${run.results.main}:greetings.txt`)).toBe('Good day!\nBonjour !\n');
    expect(git('branch', '--format=%(refname:short)').split('\n')).toStrictEqual(['main', run.results.main, '']);
    expect(readdirSync(dirname(worktreesFolder(copy.at('desk'), 'any')))).toStrictEqual([]);
  });

  test('research: the caller gets the findings and nothing of the reading', async () => {
    const copy = copyExample('research');
    const run = await follow(copy, commandsOf('research'));
    expect(pathOf(run)).toBe('START.md call RESEARCH.md goto RESEARCH.md result WRITE.md result end');
    expect(run.results).toStrictEqual({ main: 'The third edition of 1762 is the one to quote.' });
    expect(read(copy, 'answer.md')).toContain('library/reviews.txt');
  });

  test('release: workers in one workflow, a call into another, and its result comes back', async () => {
    const copy = copyExample('release');
    const run = await follow(copy, commandsOf('release'));
    expect(pathOf(run)).toBe(
      'START.sh fork-workflow CHANGES.md function-workflow notes/START.md goto notes/EDIT.md result PUBLISH.sh result end',
    );
    expect(run.results).toStrictEqual({
      main: '2 packages, with Dates like yours',
      main_check1: 'core is fine',
      main_check2: 'web is fine',
    });
  });

  test('gate: a note that is not understood is written again', async () => {
    const run = await follow(copyExample('gate'), commandsOf('gate'));
    const round = 'function JUDGE.md result DECIDE.sh';
    expect(pathOf(run)).toBe(`START.md ${round} goto CLARIFY.md ${round} result end`);
    expect(run.results).toStrictEqual({ main: 'Pages load twice as fast. There is nothing for you to do.' });
  });

  test('approval: it is changed as the first answer says, and published after the second', async () => {
    const copy = copyExample('approval');
    const { clone, project } = copy;
    const raymond = async (cwd: string, ...words: readonly string[]) => {
      const terminal = { ...project.terminal(), cwd };
      return { code: await runCli(words, terminal), ...terminal.output() };
    };
    const uncommented = (text: string): readonly string[] => text.replaceAll(/ +#.*/g, '').split('\n');
    const lines = uncommented(commandsOf('approval'));
    execFileSync('/bin/bash', ['-ec', lines.slice(0, -1).join('\n')], { cwd: clone });
    expect(await raymond(clone, ...(lines.at(-1)?.split(' ').slice(1) ?? []))).toMatchObject({ code: 2, out: '' });
    const [enter, list, ...answers] = uncommented(commandsOf('approval', 'answer'));
    expect([enter, list]).toStrictEqual(['cd ../try/approval', 'raymond asks']);
    const answered = answers.map((line) => line.replace('raymond ', '').match(/"[^"]*"|\S+/g) ?? []);
    const [first = [], second = []] = answered.map((words) => words.map((word) => word.replaceAll('"', '')));
    expect((await raymond(copy.at('.'), 'asks')).out).toContain(`The announcement: ${copy.at('.raymond/tasks')}`);
    expect(await raymond(copy.at('.'), ...first)).toMatchObject({ code: 2 });
    expect(await raymond(copy.at('.'), ...second)).toMatchObject({ code: 0, out: 'published\n' });
    expect(read(copy, 'published.md')).toContain('twice as fast');
  });

  test('hello: the script counts what was written', async () => {
    const run = await follow(copyExample('hello'), commandsOf('hello'));
    expect(pathOf(run)).toBe('START.md goto WRITE.md goto CHECK.sh result end');
    expect(run.results).toStrictEqual({ main: 'Hello!\nSalut !\nJambo!' });
  });

  test('census: two workers count, the caller adds up', async () => {
    const run = await follow(copyExample('census'), commandsOf('census'));
    expect(pathOf(run)).toBe('START.sh fork SUM.sh call ADD.sh result REPORT.sh result end');
    expect(run.results.main).toMatch(/^\d+ files of prose and code in all$/);
    expect(run.results).toMatchObject({ main_count2: '0' });
  });
});

test('poll looks again while its inbox is empty, and takes what comes later', async () => {
  const project = openTestProject();
  const come = (): void => project.write({ 'inbox/late': 'Hello?\n', 'inbox/STOP': '' });
  const handle = await project.start(join(EXAMPLES, 'poll'), 'answers.yaml', {
    options: { agent: `replay:${join(EXAMPLES, 'poll', 'answers.yaml')}`, variables: { seconds: '0.01' } },
    observe: (event) => {
      if (event.kind === 'transition' && event.to === 'START.sh' && event.state === 'START.sh') come();
    },
  });
  const run = await handle.finished;
  expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'stopped; requests done: 1' }]);
  expect(project.files()).toContain('done/late');
});

/** A test runner inside a test runner must not be told so. */
function withoutVitest(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, VITEST: __, NODE_OPTIONS: ___, ...env } = process.env;
  return env;
}
