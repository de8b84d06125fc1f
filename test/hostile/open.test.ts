import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sendMessage } from '../../src/app/say.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { answersWith, type FakeCall, fakePrompt, RESULT, state } from './fake-prompt.ts';
import { type Call, describe, eventsOf, expect, type FinishedRun, logOf, type Rig, resultOf, test } from './rig.ts';

const GO = '<goto>NEXT.md</goto>';
const WAIT = '<goto>WAIT.sh</goto>';
const ENDED = 'but its process has ended';

/** Whether each call was the first of its process (`new` or `resume`), or one more prompt of it. */
const waysOf = ({ calls }: FinishedRun): readonly string[] =>
  calls.map(({ args, env }, index) => {
    const isSame = (other: Call): boolean => other.env.RAYMOND_TURN === env.RAYMOND_TURN;
    return calls.slice(0, index).some(isSame) ? 'open' : args.includes('--resume') ? 'resume' : 'new';
  });

const conversationsOf = (rig: Rig, { run }: FinishedRun): readonly string[] => {
  const folder = join(rig.cwd, '.raymond', 'runs', run.id, 'conversations');
  return existsSync(folder) ? readdirSync(folder) : [];
};

const script = (seconds: number): string => `sleep ${seconds}; echo '${GO}'`;
const spoken = (text: string, ...more: FakeCall): FakeCall => [...answersWith(text), ...more];

describe.concurrent('a conversation that stays open', () => {
  test('takes the prompts of goto and reminders in one process, which is gone at the end', async ({ rig }) => {
    const finished = await rig.run({
      'START.md': fakePrompt(GO),
      'NEXT.md': fakePrompt('no tag', '<goto>LAST.md</goto>'),
      'LAST.md': fakePrompt(RESULT),
    });
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'open', 'open', 'open']);
    expect(finished.run.ledger).toMatchObject({ spentMicros: 40_000, estimatedMicros: 0 });
    expect(finished.calls[0]?.args).toContain('--replay-user-messages');
    expect(conversationsOf(rig, finished)).toStrictEqual([]);
  });

  test('is still there when a call returns to its state, and is not used for a state with other settings', async ({
    rig,
  }) => {
    const finished = await rig.run({
      'START.md': fakePrompt('<call return="NEXT">PART</call>'),
      'PART.md': fakePrompt('<result>part</result>'),
      'NEXT.md': fakePrompt('<goto>OTHER.md</goto>'),
      'OTHER.md': state('model: haiku', fakePrompt('<function return="LAST">NEW</function>')),
      'NEW.md': fakePrompt('<result>new</result>'),
      'LAST.md': fakePrompt(RESULT),
    });
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'resume', 'open', 'resume', 'new', 'resume']);
    expect(finished.run.ledger).toMatchObject({ spentMicros: 60_000, estimatedMicros: 0 });
  });

  test('is not used with --keep-open 0', async ({ rig }) => {
    const files = { 'START.md': fakePrompt(GO), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files, { keepOpenMs: 0 });
    expect(waysOf(finished)).toStrictEqual(['new', 'resume']);
    expect(finished.calls.flatMap(({ args }) => args)).not.toContain('--input-format');
  });

  test('is not used with settings under which Claude Code continues by itself', async ({ rig }) => {
    const files = { 'START.md': fakePrompt(GO), 'NEXT.md': fakePrompt(RESULT) };
    const env = { ...rig.env, CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '0' };
    expect(waysOf(await rig.run(files, {}, { env }))).toStrictEqual(['new', 'resume']);
  });

  test('is closed after a while without a turn', async ({ rig }) => {
    const files = { 'START.md': fakePrompt(WAIT), 'WAIT.sh': script(0.5), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files, { keepOpenMs: 50 });
    expect(waysOf(finished)).toStrictEqual(['new', 'resume']);
    expect(logOf(finished)).not.toContain(ENDED);
    expect(finished.run.ledger).toMatchObject({ spentMicros: 20_000, estimatedMicros: 0 });
  });

  test('is resumed in a new process if it dies between two turns, with a warning', async ({ rig }) => {
    const dies = spoken(WAIT, { die: 'SIGKILL' });
    const files = { 'START.md': fakePrompt(dies), 'WAIT.sh': script(0.5), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files);
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'resume']);
    expect(logOf(finished)).toContain(ENDED);
  });

  test('is resumed in a new process if it dies just when it is asked', async ({ rig }) => {
    const dies = spoken(GO, { dieTogether: true });
    const finished = await rig.run({ 'START.md': fakePrompt(dies), 'NEXT.md': fakePrompt(RESULT) });
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'resume']);
    expect(finished.run.ledger).toMatchObject({ spentMicros: 20_000, estimatedMicros: 0 });
  });

  test('is resumed after a failed turn, and what that cost is counted once', async ({ rig }) => {
    const half: FakeCall = [{ init: {} }, { assistant: { text: 'half' } }, { exit: 1 }];
    const finished = await rig.run({ 'START.md': fakePrompt(GO), 'NEXT.md': fakePrompt(half, RESULT) });
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'open', 'resume']);
  });

  test('that could spend more than a turn may is ended at the share of the turn, and continues later', async ({
    rig,
  }) => {
    const costly: FakeCall = [{ init: {} }, { assistant: { text: 'x'.repeat(80_000) } }, { hang: true }];
    const files = {
      'START.md': fakePrompt('<fork next="NEXT.md">WORKER.md</fork>'),
      'NEXT.md': fakePrompt(costly, RESULT),
      'WORKER.md': fakePrompt('<result>worker</result>'),
    };
    const finished = await rig.run(files, { budgetMicros: 1_000_000 });
    expect(resultOf(finished)).toBe('done');
    const ofMain = eventsOf(finished, 'turn_ended').filter(({ agent }) => agent === 'main');
    expect(ofMain.map(({ failure }) => failure)).toStrictEqual([null, 'budget', null]);
  });

  test('is closed if Claude Code continues by itself after its answer', async ({ rig }) => {
    const several = spoken(WAIT, ...answersWith('I continue <goto>NOWHERE</goto>'));
    const files = { 'START.md': fakePrompt(several), 'WAIT.sh': script(0.3), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files);
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'resume']);
  });

  test('is closed if a line of it is not understood', async ({ rig }) => {
    const [init, ...rest] = answersWith(GO);
    const odd: FakeCall = [init ?? {}, { raw: 'what is this?\n' }, ...rest];
    const finished = await rig.run({ 'START.md': fakePrompt(odd), 'NEXT.md': fakePrompt(RESULT) });
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'resume']);
  });

  test('is ended if it does not take up what was said, which then comes with the next prompt', async ({ rig }) => {
    const [init, ...answer] = answersWith(GO);
    const deaf: FakeCall = [init ?? {}, { mark: 'talks' }, { until: 'said' }, ...answer, { hang: true }];
    rig.onceMarked('talks', async () => {
      await sendMessage('last', { storage: storageIn(rig.cwd), env: {}, agent: null, text: 'Listen' });
      writeFileSync(join(rig.home, 'said'), '');
    });
    const files = { 'START.md': state('timeout: 1', fakePrompt(deaf)), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files);
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'resume']);
    expect(logOf(finished)).toContain('did not take up what was said');
    expect(finished.calls[1]?.prompt).toMatch(/^A message from the person.*Listen/s);
  });

  test('is done without if Claude Code does not know its options, with a warning', async ({ rig }) => {
    const old = join(dirname(rig.claude), 'old-claude');
    writeFileSync(
      old,
      `#!/bin/sh
case " $* " in *" --replay-user-messages "*) echo "error: unknown option '--replay-user-messages'" >&2; exit 1;; esac
exec ${rig.claude} "$@"
`,
    );
    chmodSync(old, 0o755);
    const files = { 'START.md': fakePrompt(GO), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files, { claude: old });
    expect(resultOf(finished)).toBe('done');
    expect(waysOf(finished)).toStrictEqual(['new', 'resume']);
    expect(logOf(finished)).toContain('this Claude Code cannot stay open between two prompts');
  });
});
