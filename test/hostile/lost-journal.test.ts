import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { answersWith, fakePrompt, INIT, RESULT } from './fake-prompt.ts';
import { describe, eventsOf, expect, type FinishedRun, logOf, type Rig, resultOf, test } from './rig.ts';

const NO_RECORD = '0002-main-NEXT is the folder of a turn that has begun, but the journal has no record of it';
const GO = '<goto>NEXT.md</goto>';

/** The id of the run of a rig. Other tests run at the same time, and a marker begins with the id. */
const idOf = (rig: Rig): string => `lost-${basename(dirname(rig.cwd))}`;

/** The files that a run is loaded from. */
const filesOf = (rig: Rig): readonly string[] => [
  join(rig.cwd, '.raymond', 'state', `${idOf(rig)}.json`),
  join(rig.cwd, '.raymond', 'runs', idOf(rig), 'journal.jsonl'),
];

const turnsFolder = (rig: Rig): string => join(rig.cwd, '.raymond', 'runs', idOf(rig), 'turns');

/** Runs to the end, then loses all that was written after the first turn of this agent had begun. */
async function loseTail(rig: Rig, files: Readonly<Record<string, string>>, agent = 'main'): Promise<FinishedRun> {
  const saved = new Map<string, Buffer>();
  const finished = await rig.run(
    files,
    {},
    {
      runId: idOf(rig),
      onEvent(event) {
        if (saved.size > 0 || event.kind !== 'turn_started' || event.agent !== agent) return;
        for (const file of filesOf(rig)) saved.set(file, readFileSync(file));
      },
    },
  );
  for (const [file, content] of saved) writeFileSync(file, content);
  return finished;
}

/** The turns of a run with the content of their `started`. */
const turnsOf = (rig: Rig): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(turnsFolder(rig))
      .sort()
      .map((name) => [name, readFileSync(join(turnsFolder(rig), name, 'started'), 'utf8')]),
  );

describe.concurrent('a journal that has lost its end', () => {
  const TWO = { 'START.md': fakePrompt(GO), 'NEXT.md': fakePrompt(RESULT, '<result>again</result>') };

  test('pauses the agent whose next turn has begun already, with a sentence, as often as it is resumed', async ({
    rig,
  }) => {
    const finished = await loseTail(rig, TWO);
    const before = turnsOf(rig);
    for (const _ of ['once', 'and once more']) {
      const resumed = await rig.resume(finished);
      expect([resumed.run.status, resumed.main.state]).toStrictEqual(['paused', 'NEXT.md']);
      const { phase } = resumed.main;
      expect(phase).toMatchObject({ kind: 'paused', message: expect.stringContaining(NO_RECORD) });
      expect(phase).toMatchObject({ message: expect.stringContaining('`resume --retry`') });
    }
    expect(turnsOf(rig)).toStrictEqual(before);
    expect(finished.calls.length).toBe((await rig.resume(finished)).calls.length);
  });

  test('continues behind the turns it does not know with --retry, and enters their costs', async ({ rig }) => {
    const finished = await loseTail(rig, TWO);
    const before = turnsOf(rig);
    await rig.resume(finished);
    const resumed = await rig.resume(finished, { retry: true });
    expect(resultOf(resumed)).toBe('again');
    expect(turnsOf(rig)).toMatchObject(before);
    expect(Object.keys(turnsOf(rig))).toStrictEqual(['0001-main-START', '0002-main-NEXT', '0003-main-NEXT']);
    const perTurn = finished.run.ledger.spentMicros / 2;
    expect(perTurn).toBeGreaterThan(0);
    expect(resumed.run.ledger).toMatchObject({ spentMicros: 3 * perTurn, turns: 3 });
    expect(eventsOf(resumed, 'turn_ended').map(({ turn, failure }) => [turn, failure])).toStrictEqual([
      [2, 'interrupted'],
      [3, null],
    ]);
    expect(logOf(resumed)).toContain(`${perTurn / 1e6} dollars that they cost are entered`);
  });

  test('says that a cost is missing which cannot be read', async ({ rig }) => {
    const finished = await loseTail(rig, TWO);
    writeFileSync(join(turnsFolder(rig), '0002-main-NEXT', 'stdout'), '');
    const resumed = await rig.resume(finished, { retry: true });
    expect(resultOf(resumed)).toBe('again');
    expect(resumed.run.ledger.turns).toBe(2);
    expect(logOf(resumed)).toContain('the cost of 1 of them is missing, because it cannot be read');
  });

  test('continues behind several turns, and with workers whose forks were lost', async ({ rig }) => {
    const finished = await loseTail(rig, {
      'START.md': fakePrompt('<goto>FORK.sh</goto>'),
      'FORK.sh': `echo '<fork next="DONE.md">WORK.md</fork>'`,
      'WORK.md': fakePrompt('<goto>MORE.md</goto>', '<goto>MORE.md</goto>'),
      'MORE.md': fakePrompt(RESULT, RESULT),
      'DONE.md': fakePrompt(RESULT, '<result>again</result>'),
    });
    expect(await rig.resume(finished)).toMatchObject({ run: { status: 'paused' }, main: { state: 'FORK.sh' } });
    const resumed = await rig.resume(finished, { retry: true });
    expect(resultOf(resumed)).toBe('again');
    expect(Object.keys(turnsOf(rig))).toStrictEqual([
      '0001-main-START',
      '0001-main_work1-WORK',
      '0002-main-FORK',
      '0002-main_work1-MORE',
      '0003-main-DONE',
      '0003-main_work1-WORK',
      '0004-main-FORK',
      '0004-main_work1-MORE',
      '0005-main-DONE',
    ]);
    expect(resumed.run.ledger).toMatchObject({ turns: 7, spentMicros: (finished.run.ledger.spentMicros / 4) * 7 });
  });

  test('does not continue beside a turn that is still running', async ({ rig }) => {
    const finished = await loseTail(rig, TWO);
    const mark = JSON.parse(readFileSync(filesOf(rig)[0] ?? '', 'utf8')).mark;
    const env = { ...process.env, RAYMOND_TURN: `${idOf(rig)}/${mark}/main/2` };
    const straggler = spawn('sleep', ['60'], { env, stdio: 'ignore' });
    const resumed = await rig.resume(finished, { retry: true });
    expect(resumed.run.status).toBe('paused');
    expect(logOf(resumed)).toContain(`Process ${straggler.pid} of it is still running`);
    straggler.kill('SIGKILL');
    await new Promise((done) => straggler.once('exit', done));
    expect(resultOf(await rig.resume(finished, { retry: true }))).toBe('again');
  });

  test('stops at the budget that the entered costs use up', async ({ rig }) => {
    const dear = [INIT, { assistant: { text: RESULT } }, { result: { result: RESULT, total_cost_usd: 5 } }];
    const finished = await loseTail(rig, {
      'START.md': fakePrompt(answersWith(GO)),
      'NEXT.md': fakePrompt(dear, RESULT),
    });
    const resumed = await rig.resume(finished, { retry: true, options: { budgetMicros: 1_000_000 } });
    expect(resumed.run.status).toBe('budget_exceeded');
    expect(resumed.calls.length).toBe(2);
  });
});

describe.concurrent('a journal that is shorter than its state file says', () => {
  const files = { 'START.md': fakePrompt(GO), 'NEXT.md': fakePrompt([INIT, { exit: 1 }], RESULT) };

  test('is refused with what to do, and --retry continues from the state file', async ({ rig }) => {
    const finished = await rig.run(files, { retries: 0 }, { runId: idOf(rig) });
    expect(finished.run.status).toBe('failed');
    const journal = filesOf(rig)[1] ?? '';
    const lines = readFileSync(journal, 'utf8').split('\n');
    writeFileSync(journal, `${lines.slice(0, 3).join('\n')}\n${lines[3]?.slice(0, 20)}`);
    await expect(rig.resume(finished)).rejects.toMatchObject({
      message: expect.stringContaining('journal.jsonl is not whole'),
      hint: expect.stringContaining('`resume --retry`'),
      exitCode: 65,
    });
    const resumed = await rig.resume(finished, { retry: true });
    expect(resultOf(resumed)).toBe('done');
    expect(readFileSync(journal, 'utf8').startsWith(`${lines.slice(0, 3).join('\n')}\n{"v":5,"seq":`)).toBe(true);
    expect(resultOf(await rig.resume(finished))).toBe('done');
  });
});
