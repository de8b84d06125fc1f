import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { recordedWrapper } from '../../src/process/turn-files.ts';
import { answersWith, type FakeCall, fakePrompt, INIT, RESULT, type Step, state } from './fake-prompt.ts';
import { describe, expect, type FinishedRun, logOf, type Rig, resultOf, test } from './rig.ts';

const RESET = '<reset>NEXT.md</reset>';
/** Time in which Raymond surely takes note of a process that has started; one that comes too late for its turn counts later. */
const KEPT: Step = { pause: 1500 };

/** A state that leaves no other way than a reset, whose turn does something before it answers. */
const resetting = (...before: readonly Step[]): string =>
  state('allowed_transitions: [{ tag: reset, target: NEXT.md }]', fakePrompt(during(...before)));

const during = (...before: readonly Step[]): FakeCall => saying(RESET, ...before);

const saying = (text: string, ...before: readonly Step[]): FakeCall => {
  const [, ...answer] = answersWith(text);
  return [INIT, ...before, ...answer];
};

/** For each call, whether its process was started ahead of it. */
const aheadOf = ({ calls }: FinishedRun): readonly boolean[] =>
  calls.map(({ env }) => env.RAYMOND_TURN?.endsWith('/ahead') === true);

const conversationsOf = ({ cwd }: Rig): readonly string[] => {
  const runs = join(cwd, '.raymond', 'runs');
  return readdirSync(runs).flatMap((run) => {
    const folder = join(runs, run, 'conversations');
    return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  });
};

const write = (file: string, content: unknown): void => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content));
};

describe.concurrent('Claude Code that is started ahead', () => {
  test.for([4, 1])(
    'gets the first prompt of its conversation, and the next ones, with --parallel %i',
    async (parallel, { rig }) => {
      const files = { 'NEXT.md': fakePrompt('<goto>LAST.md</goto>'), 'LAST.md': fakePrompt(RESULT) };
      const finished = await rig.run({ ...files, 'START.md': resetting({ ahead: true }) }, { parallel });
      expect(resultOf(finished)).toBe('done');
      expect(aheadOf(finished)).toStrictEqual([false, true, true]);
      expect(new Set(finished.calls.map(({ args }) => args[args.indexOf('--session-id') + 1])).size).toBe(2);
      expect(finished.run.ledger).toMatchObject({ spentMicros: 30_000, estimatedMicros: 0 });
      expect(conversationsOf(rig)).toStrictEqual([]);
    },
  );

  test('is replaced if it has died, without a word', async ({ rig }) => {
    rig.onceMarked('waits', () => {
      const [place = ''] = conversationsOf(rig).filter((name) => name.endsWith('.ahead'));
      process.kill(-(recordedWrapper(place)?.pid ?? 0), 'SIGKILL');
    });
    const files = { 'START.md': resetting({ ahead: true }, { mark: 'waits' }, { pause: 300 }) };
    const finished = await rig.run({ ...files, 'NEXT.md': fakePrompt(RESULT) });
    expect(resultOf(finished)).toBe('done');
    expect(aheadOf(finished)).toStrictEqual([false, false]);
    expect(logOf(finished)).not.toContain('process has ended');
  });

  test('is replaced under the same id if its share of the budget does not suit the turn', async ({ rig }) => {
    const costly = [{ ahead: true }, { assistant: { text: 'one' } }, { assistant: { text: 'two' } }];
    const files = { 'START.md': resetting(...costly), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files, { budgetMicros: 44_000 });
    expect(resultOf(finished)).toBe('done');
    expect(aheadOf(finished)).toStrictEqual([false, false]);
    expect(finished.run.ledger).toMatchObject({ spentMicros: 40_000, estimatedMicros: 0 });
  });

  test('is not used if git sees another project, and not started there again', async ({ rig }) => {
    execFileSync('git', ['init'], { cwd: rig.cwd, stdio: 'ignore' });
    const both = fakePrompt(during({ ahead: true }, KEPT, { touch: 'new' }), during({ pause: 300 }, { mark: 'again' }));
    const again: string[] = [];
    rig.onceMarked('again', () => again.push(...conversationsOf(rig)));
    const finished = await rig.run({
      'START.md': state('allowed_transitions: [{ tag: reset, target: NEXT.md }]', both),
      'NEXT.md': fakePrompt('<reset>START.md</reset>', RESULT),
    });
    expect(resultOf(finished)).toBe('done');
    expect(aheadOf(finished)).toStrictEqual([false, false, false, false]);
    // That of the first turn may not be removed yet.
    expect(again.filter((name) => name.endsWith('3-main.ahead'))).toStrictEqual([]);
  });

  test('is not started any more where three were not used', async ({ rig }) => {
    mkdirSync(join(rig.cwd, 'sub'));
    const elsewhere = ['sub', '..', 'sub', '..', 'sub'].map((cd, at) =>
      saying(`<reset cd="${cd}">START.md</reset>`, ...(at < 3 ? [{ ahead: true } as const] : []), KEPT),
    );
    const last = saying(RESET, { pause: 300 }, { mark: 'last' });
    const policy = 'allowed_transitions: [{ tag: reset, target: START.md }, { tag: reset, target: NEXT.md }]';
    const there: string[] = [];
    rig.onceMarked('last', () => there.push(...conversationsOf(rig)));
    const files = { 'START.md': state(policy, fakePrompt(...elsewhere, last)), 'NEXT.md': fakePrompt(RESULT) };
    const finished = await rig.run(files);
    expect(resultOf(finished)).toBe('done');
    expect(aheadOf(finished)).toStrictEqual([false, false, false, false, false, false, false]);
    expect(there.filter((name) => name.endsWith('6-main.ahead'))).toStrictEqual([]);
  });

  test('ends when the run is to stop', async ({ rig }) => {
    const files = { 'START.md': resetting({ ahead: true }, { mark: 'waits' }, { ahead: false }) };
    let stop = (): void => {};
    rig.onceMarked('waits', () => stop());
    const onEvent: NonNullable<Parameters<Rig['run']>[2]>['onEvent'] = (_, running) => {
      stop = () => running().stop();
    };
    const finished = await rig.run({ ...files, 'NEXT.md': fakePrompt(RESULT) }, {}, { onEvent });
    expect([finished.run.status, finished.calls.length]).toStrictEqual(['paused', 1]);
    expect(conversationsOf(rig)).toStrictEqual([]);
  });

  const hooks = { SessionEnd: [{ hooks: [{ type: 'command', command: 'true' }] }] };

  test.for<readonly [string, readonly Step[], (rig: Rig) => void]>([
    ['--keep-open 0', [], () => {}],
    ['a hook that has run', [{ line: { type: 'system', subtype: 'hook_started' } }], () => {}],
    ['a hook of the project', [], ({ cwd }) => write(join(cwd, '.claude', 'settings.json'), { hooks })],
    ['a hook of the user', [], ({ home }) => write(join(home, '.claude', 'settings.json'), { hooks })],
    [
      'a hook of a plugin',
      [],
      ({ home }) => {
        const plugins = join(home, '.claude', 'plugins');
        const plugin = { scope: 'user', installPath: join(plugins, 'cache', 'one') };
        write(join(plugins, 'installed_plugins.json'), { version: 2, plugins: { 'one@market': [plugin] } });
        write(join(plugin.installPath, 'hooks', 'hooks.json'), { hooks });
      },
    ],
  ])('is not there with %s', async ([name, before, prepare], { rig }) => {
    prepare(rig);
    const files = { 'START.md': fakePrompt([...before, ...during({ pause: 300 })]), 'NEXT.md': fakePrompt(RESULT) };
    const policy = 'allowed_transitions: [{ tag: reset, target: NEXT.md }]';
    const options = name === '--keep-open 0' ? { keepOpenMs: 0 } : {};
    const finished = await rig.run({ ...files, 'START.md': state(policy, files['START.md']) }, options);
    expect(resultOf(finished)).toBe('done');
    expect(aheadOf(finished)).toStrictEqual([false, false]);
    expect(readFileSync(join(rig.home, 'calls.jsonl'), 'utf8').trim().split('\n').length).toBe(2);
  });
});
