import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { vi } from 'vitest';
import { answersWith, broken, fakePrompt, RESULT, state } from './fake-prompt.ts';
import {
  argument,
  type Call,
  describe,
  eventsOf,
  expect,
  expectStuck,
  failures,
  logOf,
  resultOf,
  test,
} from './rig.ts';

const GO: string = '<goto>NEXT.md</goto>';

describe.concurrent('a lost conversation', () => {
  test('is resumed, then forked, then restarted, with an event for each step', async ({ rig }) => {
    const forgetful = [...answersWith(GO), { forget: true }];
    const files = { 'START.md': fakePrompt(forgetful), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files, { keepOpenMs: 0 });
    expect(resultOf(finished)).toBe('done');
    expect(failures(finished)).toStrictEqual([null, 'session_lost', 'session_lost', null]);
    const [first, , , last] = finished.calls as [Call, Call, Call, Call];
    const session = argument(first, '--session-id');
    expect(eventsOf(finished, 'session_lost')).toMatchObject([
      { state: 'NEXT.md', session, next: 'fork' },
      { state: 'NEXT.md', session, next: 'new' },
    ]);
    expect(finished.calls.map((call) => argument(call, '--resume'))).toStrictEqual([
      undefined,
      session,
      session,
      undefined,
    ]);
    expect(argument(last, '--session-id')).not.toBe(session);
    expect(last.prompt).toBe(finished.calls[1]?.prompt);
    expect(logOf(finished)).toMatch(/cannot be resumed \(.*No conversation found.*\); it is forked/);
    expect(logOf(finished)).toMatch(/cannot be resumed \(.*No conversation found.*\); a new one is started/);
  });

  test('is not restarted if it can be forked', async ({ rig }) => {
    const lost = broken('error_during_execution', ['No conversation found with session ID: x']);
    const finished = await rig.run({ 'START.md': fakePrompt(GO), 'NEXT.md': fakePrompt(lost, RESULT) });
    expect(resultOf(finished)).toBe('done');
    expect(eventsOf(finished, 'session_lost')).toMatchObject([{ next: 'fork' }]);
    const [first, , forked] = finished.calls as [Call, Call, Call];
    expect(argument(forked, '--resume')).toBe(argument(first, '--session-id'));
    expect(forked.args).toContain('--fork-session');
    expect(argument(forked, '--session-id')).not.toBe(argument(first, '--session-id'));
  });

  test('is also recognized by a message on stderr', async ({ rig }) => {
    const lost = [{ stderr: 'No conversation found with session ID: x\n' }, { exit: 1 }];
    const finished = await rig.run({ 'START.md': fakePrompt(GO), 'NEXT.md': fakePrompt(lost, lost, RESULT) });
    expect(resultOf(finished)).toBe('done');
    expect(eventsOf(finished, 'session_lost').map(({ next }) => next)).toStrictEqual(['fork', 'new']);
  });

  test('is an error, not a loop, if there was none', async ({ rig }) => {
    const lost = broken('error_during_execution', ['No conversation found with session ID: x']);
    const finished = await rig.run({ 'START.md': fakePrompt(lost) });
    expectStuck(finished, 'failed', /The conversation to be resumed is gone/);
    expect(finished.calls.length).toBe(1);
  });
});

test('a session id that is taken is not used again: the next attempt has a new one', async ({ rig }) => {
  let taken: string | undefined;
  const finished = await rig.run(
    { 'START.md': fakePrompt(RESULT) },
    {},
    {
      onEvent(event) {
        if (event.kind !== 'turn_started' || taken !== undefined) return;
        taken = event.session?.id ?? '';
        const file = join(rig.home, '.claude/projects', rig.cwd.replace(/[^a-zA-Z0-9]/g, '-'), `${taken}.jsonl`);
        mkdirSync(dirname(file), { recursive: true });
        writeFileSync(file, '{"type":"user","message":{"content":"somebody else"}}\n');
      },
    },
  );
  expect(resultOf(finished)).toBe('done');
  expect(failures(finished)).toStrictEqual(['transient', null]);
  expect(logOf(finished)).toMatch(/already in use\. The next try opens a conversation of its own; tried again in/);
  const [first, second] = finished.calls as [Call, Call];
  expect(argument(first, '--session-id')).toBe(taken);
  expect([argument(second, '--resume'), argument(second, '--session-id') === taken]).toStrictEqual([undefined, false]);
});

describe.concurrent('a prompt', () => {
  test.for([
    ['that is blank', state('description: nothing', ' \n\t\n')],
    ['of which nothing is left', '{{result}}\n'],
  ] as const)('%s is refused before a turn starts', async ([, prompt], { rig }) => {
    const finished = await rig.run({ 'START.md': prompt }, {}, { input: '' });
    expectStuck(finished, 'paused', /START\.md: .*prompt is empty/);
    expect(eventsOf(finished, 'agent_paused')).toMatchObject([{ why: 'unreadable' }]);
    expect(finished.calls).toStrictEqual([]);
    const file = join(rig.cwd, 'flow', 'START.md');
    const endedAt = Date.now();
    // The stamps of files are a few milliseconds behind the clock: an edit counts as one after the end only if its stamp does.
    await vi.waitUntil(() => {
      writeFileSync(file, fakePrompt(RESULT));
      return statSync(file).ctimeMs > endedAt;
    });
    expect(resultOf(await rig.resume(finished))).toBe('done');
  });

  test('is not a command if it begins with a slash', async ({ rig }) => {
    const finished = await rig.run({ 'START.md': `/review everything\n${fakePrompt(RESULT)}` });
    expect(resultOf(finished)).toBe('done');
    expect(finished.calls[0]?.prompt).toMatch(/^\n\/review everything\n/);
  });

  test('arrives whole with 5 MB', async ({ rig }) => {
    const prompt = `${fakePrompt(RESULT)}${'é'.repeat(2_500_000)}.`;
    const finished = await rig.run({ 'START.md': prompt });
    expect(resultOf(finished)).toBe('done');
    expect(finished.calls[0]?.size).toBe(Buffer.byteLength(prompt));
  });
});

describe.concurrent('Claude Code', () => {
  test('may be updated during a run, and the costs are still right', async ({ rig }) => {
    const updated = [...answersWith(GO), { update: '2.2.0' }];
    const finished = await rig.run({ 'START.md': fakePrompt(updated), 'NEXT.md': fakePrompt(RESULT) });
    expect(resultOf(finished)).toBe('done');
    expect(finished.run.ledger.spentMicros).toBe(20_000);
    expect(finished.calls[1]?.env.DISABLE_AUTOUPDATER).toBe('1');
  });

  test('may be removed during a run, which then pauses', async ({ rig }) => {
    const gone = [...answersWith(GO), { remove: rig.claude }];
    const files = { 'START.md': fakePrompt(gone), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files, { keepOpenMs: 0 });
    expect([finished.run.status, finished.main.state]).toStrictEqual(['paused', 'NEXT.md']);
    expect(logOf(finished)).toMatch(/paused: .*claude\.mjs.* not found.* then resume the run\./);
    rig.install();
    expect(resultOf(await rig.resume(finished))).toBe('done');
  });

  test('gets no variables of Raymond or of another Claude Code around it', async ({ rig }) => {
    const outer = { CLAUDECODE: '1', CLAUDE_CODE_ENTRYPOINT: 'cli', RAYMOND_RESULT: 'of an outer run', KEPT: 'yes' };
    const finished = await rig.run({ 'START.md': fakePrompt(RESULT) }, {}, { env: { ...rig.env, ...outer } });
    expect(resultOf(finished)).toBe('done');
    const names = Object.keys(finished.calls[0]?.env ?? {});
    expect(names.filter((name) => /^(CLAUDECODE|CLAUDE_CODE_ENTRYPOINT|RAYMOND_.*)$/.test(name))).toStrictEqual([
      'RAYMOND_TURN',
    ]);
    expect(names).toContain('KEPT');
  });
});
