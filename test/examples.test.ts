/** Every example is played: the commands of its README, with the scripted agent, on scripts that really run. */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMMAND_TABLE } from '../src/cli/command-table.ts';
import { runCli } from '../src/cli/program.ts';
import { openWorkflow } from '../src/workflow/workflow.ts';
import { newRoom, type Room } from './cli/room.ts';
import { readPage } from './docs/page.ts';
import { openTheatre } from './scenario/rig.ts';

const EXAMPLES = join(import.meta.dirname, '..', 'examples');
const NAMES = readdirSync(EXAMPLES).filter((name) => /^[a-z]/.test(name));

interface Played {
  readonly status: string;
  readonly results: Readonly<Record<string, string>>;
  readonly cost_usd: number;
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
interface Tried {
  readonly clone: string;
  readonly room: Room;
  /** A path in the folder of the example. */
  readonly at: (file: string) => string;
}

function newTry(name: string): Tried {
  const room = newRoom();
  const clone = join(room.cwd, 'clone');
  mkdirSync(clone);
  cpSync(EXAMPLES, join(clone, 'examples'), { recursive: true });
  return { clone, room, at: (file) => join(room.cwd, 'try', name, file) };
}

/** Does what the README says; the last command is the run. It leaves nothing in the clone. */
async function follow({ clone, room }: Tried, commands: string): Promise<Played> {
  const lines = commands.split('\n');
  const run = lines.at(-1)?.split(' ') ?? [];
  execFileSync('/bin/bash', ['-ec', lines.slice(0, -1).join('\n')], { cwd: clone });
  expect(run[0]).toBe('raymond');
  const terminal = { ...room.terminal(), cwd: clone };
  const code = await runCli([...run.slice(1), '--json'], terminal);
  const { out, err } = terminal.said();
  expect({ code, err }).toMatchObject({ code: 0 });
  expect(err).not.toContain('warning');
  expect(readdirSync(clone)).toStrictEqual(['examples']);
  return JSON.parse(out) as Played;
}

/** The way of one agent: `START.md goto CHECK.sh goto …`. */
const wayOf = ({ transitions }: Played, agent = 'main'): string =>
  transitions
    .filter((each) => each.agent === agent)
    .map(({ from, tag, to }, index) => `${index === 0 ? `${from} ` : ''}${tag} ${to ?? 'end'}`)
    .join(' ');

const read = ({ at }: Tried, file: string): string => readFileSync(at(file), 'utf8');

test.each(NAMES)(
  '%s is a sound workflow with nothing to complain of, and all its states can be reached',
  async (name) => {
    const { findings, scope, entry } = await openWorkflow(join(EXAMPLES, name), 'unix');
    expect(findings).toStrictEqual([]);
    const { files } = await scope();
    const states = files.filter((file) => /\.(md|sh)$/.test(file) && file !== 'README.md');
    const texts = states.map((file) => readFileSync(join(EXAMPLES, name, file), 'utf8'));
    const mentioned = (file: string) =>
      texts.some((text, at) => states[at] !== file && text.includes(file.slice(0, -3)));
    expect(states.filter((file) => file !== entry && !mentioned(file))).toStrictEqual([]);
  },
);

test.each(NAMES.filter((name) => existsSync(join(EXAMPLES, name, 'answers.yaml'))))(
  '%s has prompts that say what to do, when to stop and how to answer',
  (name) => {
    const prompts = readdirSync(join(EXAMPLES, name)).filter(
      (file) => /^[A-Z]+\.md$/.test(file) && file !== 'README.md',
    );
    for (const file of prompts) {
      const text = readFileSync(join(EXAMPLES, name, file), 'utf8');
      expect(text, file).toContain('allowed_transitions:');
      expect(text, file).toMatch(/STOP|[Cc]hange nothing|Do not (write or )?change any file/);
    }
  },
);

describe('the commands of an example', () => {
  test.each(NAMES.filter((name) => existsSync(join(EXAMPLES, name, 'answers.yaml'))))(
    'for Claude Code are such as Raymond takes: %s',
    (name) => {
      const [, example, ...words] = commandsOf(name, 'claude').split('\n').at(-1)?.split(' ') ?? [];
      expect(example).toBe(`examples/${name}`);
      const flags = COMMAND_TABLE.find((entry) => entry.name === 'run')?.flags.map(([form]) => form.split(' ')[0]);
      expect(flags).toEqual(expect.arrayContaining(words.filter((word) => word.startsWith('--'))));
    },
  );

  test('plan-then-implement: a plan, then one step after the other, each in a fresh conversation', async () => {
    const tried = newTry('plan-then-implement');
    const played = await follow(tried, commandsOf('plan-then-implement'));
    expect(wayOf(played)).toBe('START.md reset IMPLEMENT.md reset IMPLEMENT.md goto REPORT.md result end');
    expect(played.results).toStrictEqual({ main: 'A function that greets by name, or the world, with tests.' });
    expect(played.cost_usd).toBe(0.2);
    expect(read(tried, 'plan.md')).not.toContain('[ ]');
    expect(execFileSync(process.execPath, ['--test'], { cwd: tried.at('.'), env: withoutVitest() }).toString()).toMatch(
      /pass 2/,
    );
  });

  test('review-loop: the gate sends the work back once', async () => {
    const tried = newTry('review-loop');
    const played = await follow(tried, commandsOf('review-loop'));
    expect(wayOf(played)).toBe(
      'START.md function EVALUATE.md result DECIDE.md function EVALUATE.md result DECIDE.md result end',
    );
    expect(played.results.main).toContain('it passed its review');
    expect(played.cost_usd).toBe(0.16);
    const { slug } = (await import(tried.at('slug.mjs'))) as { slug: (title: string) => string };
    expect(slug('  Why?  Oh,  why ')).toBe('why-oh-why');
  });

  test('poll: every request is answered under its name, then the run stops', async () => {
    const tried = newTry('poll');
    const played = await follow(tried, commandsOf('poll'));
    expect(wayOf(played)).toBe('START.sh reset HANDLE.md reset START.sh result end');
    expect(played.results).toStrictEqual({ main: 'stopped; requests done: 1' });
    expect(readdirSync(tried.at('done'))).toStrictEqual(['question']);
    expect(readdirSync(tried.at('inbox'))).toStrictEqual([]);
  });

  test('fork-workers: one worker for each line, side by side, and what they left is joined', async () => {
    const tried = newTry('fork-workers');
    const played = await follow(tried, commandsOf('fork-workers'));
    expect(wayOf(played)).toBe('START.sh fork WAIT.sh goto JOIN.md result end');
    expect(played.results).toStrictEqual({
      main: 'overview.md',
      main_worker1: 'yeast is described',
      main_worker2: 'salt is described',
      main_worker3: 'flour is described',
    });
    expect(read(tried, 'parts/2.md')).toBe('This is what main_worker2 knows about salt.\n');
  });

  test('research: the caller gets the findings and nothing of the reading', async () => {
    const tried = newTry('research');
    const played = await follow(tried, commandsOf('research'));
    expect(wayOf(played)).toBe('START.md call RESEARCH.md goto RESEARCH.md result WRITE.md result end');
    expect(played.results).toStrictEqual({ main: 'The third edition of 1762 is the one to quote.' });
    expect(read(tried, 'answer.md')).toContain('library/reviews.txt');
  });

  test('hello: the script counts what was written', async () => {
    const played = await follow(newTry('hello'), commandsOf('hello'));
    expect(wayOf(played)).toBe('START.md goto WRITE.md goto CHECK.sh result end');
    expect(played.results).toStrictEqual({ main: 'Hello!\nSalut !\nJambo!' });
  });

  test('census: two workers count, the caller adds up', async () => {
    const played = await follow(newTry('census'), commandsOf('census'));
    expect(wayOf(played).replaceAll(' reset WAIT.sh', '')).toBe(
      'START.sh fork WAIT.sh call ADD.sh result REPORT.sh result end',
    );
    expect(played.results.main).toMatch(/^\d+ files of prose and code in all$/);
    expect(played.results).toMatchObject({ main_count2: '0 files end in .ts' });
  });
});

test('poll looks again while its inbox is empty, and takes what comes later', async () => {
  const theatre = openTheatre();
  const come = (): void => theatre.write({ 'inbox/late': 'Hello?\n', 'inbox/STOP': '' });
  const playing = await theatre.start(join(EXAMPLES, 'poll'), 'answers.yaml', {
    options: { agent: `replay:${join(EXAMPLES, 'poll', 'answers.yaml')}`, variables: { seconds: '0.01' } },
    observe: (event) => {
      if (event.kind === 'transition' && event.to === 'START.sh' && event.state === 'START.sh') come();
    },
  });
  const run = await playing.finished;
  expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'stopped; requests done: 1' }]);
  expect(theatre.files()).toContain('done/late');
});

/** A test runner inside a test runner must not be told so. */
function withoutVitest(): NodeJS.ProcessEnv {
  const { NODE_TEST_CONTEXT: _, VITEST: __, NODE_OPTIONS: ___, ...env } = process.env;
  return env;
}
