import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/core/run/run.ts';
import type { FailureKind } from '../../src/language/failure.ts';
import type { CannedFailureName } from '../../src/scenario/scenario.ts';
import { parseClaudeLine } from '../../src/turns/claude/event.ts';
import {
  logLines,
  type ObservedHandle,
  openTestProject,
  runToEnd,
  type TestProject,
} from '../scenario/test-project.ts';

const GO = '---\nallowed_transitions:\n  - { tag: goto, target: END.md }\n---\nGo.\n';
const TWO = { 'START.md': GO, 'END.md': 'End.\n' };
const END = '  END.md: <result>the end</result>\n';

const logOf = ({ seen }: ObservedHandle) => logLines(seen.events);
const phases = ({ agents }: Run) => agents.map(({ phase }) => phase);

/** The lines that a turn left, by the name of its folder. */
const linesOf = ({ folder }: TestProject, run: Run, turn: string, file = 'stdout'): string =>
  readFileSync(join(folder, '.raymond', 'runs', run.id, 'turns', turn, file), 'utf8');

describe('a canned turn', () => {
  test('writes its files, costs what it says, and is followed like any other', async () => {
    const answers = `answers:
  START.md:
    text: done
    write: { a.txt: "a\\n", deep/er/b.txt: b }
    cost: 0.123456
${END}`;
    const { project, run } = await runToEnd(TWO, answers);
    expect(phases(run)).toStrictEqual([{ kind: 'ended', result: 'the end' }]);
    expect(run.ledger).toMatchObject({ spentMicros: 123_456, estimatedMicros: 0, turns: 2 });
    expect(project.files()).toStrictEqual(['a.txt', 'deep/er/b.txt']);
    expect(project.read('a.txt')).toBe('a\n');
  });

  test('keeps the prompt as sent and output lines like those of Claude Code', async () => {
    const answers = `answers:
  START.md: { text: said, uses: [Read a.txt, Bash npm test], write: { b.txt: b }, deny: [WebFetch example.org], cost: 0.5 }
${END}`;
    const { project, run } = await runToEnd({ ...TWO, 'START.md': GO.replace('Go.', 'Go, {{who}}.') }, answers, {
      options: { variables: { who: 'Ada' } },
    });
    expect(linesOf(project, run, '0001-main-START', 'stdin')).toBe('Go, Ada.\n');
    const events = linesOf(project, run, '0001-main-START').trim().split('\n').map(parseClaudeLine);
    expect(events.map(({ kind }) => kind)).toStrictEqual(
      'init assistant tool_results assistant tool_results assistant tool_results assistant tool_results assistant result'.split(
        ' ',
      ),
    );
    const sessions = events.flatMap((event) => ('sessionId' in event ? [event.sessionId] : []));
    expect(new Set(sessions).size).toBe(1);
    expect(events.at(-1)).toMatchObject({
      isError: false,
      text: 'said',
      totalCostUsd: 0.5,
      denials: ['WebFetch(example.org)'],
    });
    expect(readdirSync(join(project.folder, '.raymond', 'debug'), { recursive: true })).toContainEqual(
      expect.stringMatching(/main_START_001\.jsonl$/),
    );
  });

  test('has activities: its tools in order, a file at its tool, then its text', async () => {
    const answers = `answers:
  START.md: { text: said, uses: [Edit b.txt, Bash ls], write: { a.txt: a, b.txt: b } }
${END}`;
    const { handle } = await runToEnd(TWO, answers);
    const doings = handle.seen.activities.map(({ doing }) => doing).slice(0, 4);
    expect(doings).toStrictEqual([
      { kind: 'uses', tool: 'Edit', detail: 'b.txt' },
      { kind: 'uses', tool: 'Bash', detail: 'ls' },
      { kind: 'uses', tool: 'Write', detail: 'a.txt' },
      { kind: 'says', text: 'said' },
    ]);
  });

  test('must have a tag if a tool was denied, like a real one', async () => {
    const { handle } = await runToEnd(
      TWO,
      `answers:\n  START.md: { turns: [{ text: done, deny: [Bash rm] }, <goto>END.md</goto>] }\n${END}`,
    );
    expect(logOf(handle)).toContainEqual(expect.stringContaining('not permitted: Bash(rm)'));
    expect(logOf(handle)).toContainEqual(expect.stringContaining('reminder 1 of 3'));
  });

  test('keeps its session: goto resumes it, reset opens another', async () => {
    const files = { 'START.md': 'x', 'A.md': 'x', 'B.md': 'x' };
    const answers = 'answers: { START: <goto>A</goto>, A: <reset>B</reset>, B: <result>r</result> }';
    const { handle } = await runToEnd(files, answers);
    const uses = handle.seen.events.flatMap((event) => (event.kind === 'turn_started' ? [event.session] : []));
    expect(uses.map((use) => use?.kind)).toStrictEqual(['new', 'resume', 'new']);
    expect(uses[1]?.id).toBe(uses[0]?.id);
  });

  test('counts against the budget', async () => {
    const answers = `answers:\n  START.md: { text: done, cost: 0.02 }\n${END}`;
    const { project, run } = await runToEnd(TWO, answers, { options: { budgetMicros: 20_000 } });
    expect(run.status).toBe('budget_exceeded');
    const resumed = await project.resume(run.id, { options: { budgetMicros: 50_000 } });
    expect((await resumed.finished).status).toBe('completed');
  });

  test('repeats the last answer of its visit until the reminders are used up', async () => {
    const { run, handle } = await runToEnd(TWO, `answers:\n  START.md: <goto>NOWHERE</goto>\n${END}`);
    expect(run.status).toBe('failed');
    expect(logOf(handle).filter((line) => line.includes(': reminder '))).toHaveLength(3);
  });

  test('needs no Claude Code, and does not search for it', async () => {
    const { run } = await runToEnd(TWO, `answers:\n  START.md: done\n${END}`, { env: { PATH: '/nowhere' } });
    expect(run.status).toBe('completed');
  });
});

const KINDS: Record<Exclude<CannedFailureName, 'session_lost'>, FailureKind> = {
  overloaded: 'transient',
  no_result: 'transient',
  timeout: 'timeout',
  usage_limit: 'usage_limit',
  authentication: 'authentication',
  billing: 'billing',
  model: 'model',
  invalid_request: 'invalid_request',
  prompt_too_long: 'prompt_too_long',
  refusal: 'refusal',
  max_turns: 'max_turns',
  budget: 'budget',
};

describe('a canned failure', () => {
  test.each(Object.entries(KINDS))('%s is handled as %s, with its cost', async (name, kind) => {
    const { handle, run } = await runToEnd(TWO, `answers:\n  START.md: { fail: ${name}, cost: 0.25 }\n`, {
      options: { retries: 0, wait: false, budgetMicros: 250_000 },
    });
    const ended = handle.seen.events.find((event) => event.kind === 'turn_ended');
    expect(ended).toMatchObject({ failure: kind, costMicros: 250_000 });
    expect(run.status).not.toBe('completed');
  });

  test('session_lost requires a turn that resumes a conversation', async () => {
    const lost = (turns: string) => `answers:\n  START.md: done\n  END.md:\n    turns: [${turns}]\n`;
    const LOST = '{ fail: session_lost }';
    const played = await runToEnd(TWO, lost(`${LOST}, ${LOST}, <result>r</result>`));
    expect(played.run.status).toBe('completed');
    const { run } = await runToEnd(TWO, lost(LOST));
    expect(phases(run)).toMatchObject([
      {
        kind: 'paused',
        message: expect.stringMatching(
          /answers\.yaml:3:3: the answer for END\.md: `fail: session_lost` is for a turn that resumes a conversation, and this one begins it\. Give it another, then resume the run\./,
        ),
      },
    ]);
  });

  test('has the message of Claude Code', async () => {
    const { handle } = await runToEnd(TWO, 'answers: { START.md: { fail: billing } }');
    expect(logOf(handle)[0]).toMatch(/^\[main\] paused: Claude's account cannot pay: Credit balance is too low\. /);
  });

  test('lasts exactly as long as stated, if it is a usage limit', async () => {
    const answers = `answers:\n  START.md: { turns: [{ fail: usage_limit, resets_in: 0.05 }, done] }\n${END}`;
    const { handle, run } = await runToEnd(TWO, answers);
    const slept = handle.seen.events.find((event) => event.kind === 'sleeping');
    expect(slept?.kind === 'sleeping' && slept.untilMs - slept.at).toBe(50);
    expect(run.status).toBe('completed');
  });

  test('is continued if it is in the middle of an answer', async () => {
    const answers = `answers:\n  START.md: { turns: [{ fail: prompt_too_long, text: I had begun }, done] }\n${END}`;
    const { project, run } = await runToEnd(TWO, answers);
    const resumed = await project.resume(run.id);
    await resumed.finished;
    expect(resumed.seen.events.find((event) => event.kind === 'turn_started')).toMatchObject({ prompt: 'continue' });
  });
});

describe('a replayed script', () => {
  const files = { 'START.sh': 'touch really-run; echo "<result>real</result>"\n' };

  test('is not executed; its output is recorded and observed', async () => {
    const { project, run, handle } = await runToEnd(files, 'answers: { START.sh: "one\\n<result>{{x}}</result>" }', {
      options: { variables: { x: 'played' } },
    });
    expect(phases(run)).toStrictEqual([{ kind: 'ended', result: 'played' }]);
    expect(project.files()).toStrictEqual([]);
    expect(linesOf(project, run, '0001-main-START')).toBe('one\n<result>played</result>');
    expect(handle.seen.activities.map(({ doing }) => doing)).toStrictEqual([
      { kind: 'prints', text: 'one' },
      { kind: 'prints', text: '<result>played</result>' },
    ]);
  });

  test('is executed if it is not in the file', async () => {
    const { project, run } = await runToEnd(files, 'answers: {}');
    expect(phases(run)).toStrictEqual([{ kind: 'ended', result: 'real' }]);
    expect(project.files()).toStrictEqual(['really-run']);
  });

  test('fails with its exit code and its last output', async () => {
    const { run } = await runToEnd(files, 'answers: { START.sh: { exit: 3, stderr: "oh no\\n" } }');
    expect(phases(run)).toStrictEqual([
      { kind: 'failed', message: 'START.sh: the script ended with exit code 3\noh no' },
    ]);
  });
});

describe('a missing answer pauses the agent, with a message that says what to add', () => {
  test.each([
    [
      'for a state',
      'answers: {}',
      /answers\.yaml has no answer for START\.md\. Add `START\.md:` with one under `answers`/,
    ],
    [
      'for a visit',
      'answers: { START.md: [<goto>START.md</goto>, <goto>START.md</goto>] }',
      /answers\.yaml:1:12: START\.md has 2 answers, and this is visit 3 of main\. Add one to the list, then resume/,
    ],
    [
      'for an agent',
      'answers:\n  START.md: { when: { x: 2, y: 1 }, text: a }',
      /answers\.yaml:2:3: no answer for START\.md matches main \(x: 1, no y\)\. Add one, then resume the run\./,
    ],
  ])('%s', async (_, answers, message) => {
    const { run, project } = await runToEnd({ 'START.md': 'x' }, answers, { options: { variables: { x: '1' } } });
    expect(phases(run)).toStrictEqual([
      { kind: 'paused', why: 'unreadable', message: expect.stringMatching(message), prompt: { kind: 'state' } },
    ]);
    project.write({ 'wf/answers.yaml': 'answers: { START.md: <result>added</result> }' });
    const resumed = await (await project.resume(run.id)).finished;
    expect(phases(resumed)).toStrictEqual([{ kind: 'ended', result: 'added' }]);
  });
});

describe('a file that cannot be written', () => {
  test.each([
    ['outside of the working directory', '"{{x}}/a.txt"', '..', /`\.\.\/a\.txt` leaves the working directory/],
    ['where a folder is', 'wf', 'x', /wf cannot be written \(EISDIR\)/],
  ])('%s pauses the agent; nothing is written elsewhere', async (_, name, x, message) => {
    const { project, run } = await runToEnd(TWO, `answers: { START.md: { text: done, write: { ${name}: a } } }`, {
      options: { variables: { x } },
    });
    expect(phases(run)).toMatchObject([
      { kind: 'paused', why: 'invalid_request', message: expect.stringMatching(message) },
    ]);
    expect(project.files()).toStrictEqual([]);
  });
});

test('an undefined variable in an answer is reported once', async () => {
  const files = { 'START.md': 'x' };
  const answers = 'answers: { START.md: ["{{nobody}} <goto>START.md</goto>", "{{nobody}} <result>r</result>"] }';
  const { handle } = await runToEnd(files, answers);
  expect(logOf(handle).filter((line) => line.includes('warning'))).toStrictEqual([
    expect.stringMatching(/answers\.yaml: the answer for START\.md: \{\{nobody\}\} is not set$/),
  ]);
});

test('a run continues with its file after a kill, and repeats the interrupted turn', async () => {
  const project = openTestProject();
  project.write({ 'wf/START.md': GO, 'wf/END.md': 'x' });
  project.write({ 'answers.yaml': `answers:\n  START.md: { text: done, seconds: 3600 }\n${END}` });
  const handle = await project.start('wf', 'answers.yaml', { env: process.env, watch: () => handle.kill() });
  const run = await handle.finished;
  expect(handle.seen.events.find((event) => event.kind === 'turn_ended')).toMatchObject({
    failure: 'stopped',
    estimated: true,
    canned: true,
    models: [],
  });
  expect(run.status).toBe('paused');
  const resumed = await (await project.resume(run.id)).finished;
  expect(phases(resumed)).toStrictEqual([{ kind: 'ended', result: 'the end' }]);
});

describe('before anything runs', () => {
  test.each([
    ['there is no such file', 'replay:/no/such/file', /^there is no \/no\/such\/file$/, 64],
    ['it is a folder', 'replay:/', /^\/ cannot be read \(EISDIR\)$/, 64],
    ['nobody knows the agent', 'codex', /^the agent must be claude or replay:FILE, not `codex`$/, 64],
  ])('an error says that %s', async (_, agent, message, exitCode) => {
    const project = openTestProject();
    project.write({ 'wf/START.md': 'x' });
    const started = project.start('wf', 'answers.yaml', { options: { agent } });
    await expect(started).rejects.toMatchObject({ message: expect.stringMatching(message), exitCode });
    expect(readdirSync(join(project.folder, '.raymond'))).toStrictEqual([]);
  });
});
