import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { getStatus } from '../../src/app/library.ts';
import { readTurnLocator } from '../../src/conversations/records.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { charged, conversation, type Rig, resumeToEnd, runToEnd, served, setUp, withEachClaude } from './rig.ts';

/** The folders of all runs of a rig, of this kind. */
const foldersOf = ({ cwd }: Rig, kind: 'turns' | 'conversations'): readonly string[] => {
  const runs = join(cwd, '.raymond', 'runs');
  return readdirSync(runs).flatMap((run) => {
    const names = readdirSync(join(runs, run)).includes(kind) ? readdirSync(join(runs, run, kind)) : [];
    return names.sort().map((name) => join(runs, run, kind, name));
  });
};

/** For each turn, the number of the turn that opened its process; null if it had one of its own. */
const openersOf = (rig: Rig): readonly (number | null)[] =>
  foldersOf(rig, 'turns').map((folder) => readTurnLocator(folder)?.opener ?? null);

const WAIT = 'until [ -e gate ]; do sleep 0.05; done; echo "<goto>NEXT</goto>"';

withEachClaude('a conversation that stays open', (pinned) => {
  test('takes gotos, reminders and the return of a call, and costs what the API charges', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «usage 2000 20» «say <goto>A</goto>»',
        'A.md': '/word, I am A «usage 300 3» «tool Bash {"command":"echo a"}» «usage 400 4» «say no tag»',
        'B.md': 'I am B «usage 500 5» «say <call return="D">C</call>»',
        'C.md': 'I am C «usage 600 6» «say <result>c</result>»',
        'D.md': '---\nmodel: haiku\n---\nI am D with {{result}} «usage 700 7» «say <result>over</result>»',
      },
      script: ({ prompt }) =>
        prompt.startsWith('The next step') || prompt.startsWith('In your last turn')
          ? { blocks: [{ type: 'text', text: '<goto>B</goto>' }] }
          : undefined,
    });
    const run = await runToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(openersOf(rig)).toStrictEqual([1, 1, 1, 1, 5, 6]);
    expect(conversation(rig, 'I am D').filter((text) => text.startsWith('> ')).length).toBe(6);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
    expect(foldersOf(rig, 'conversations')).toStrictEqual([]);
  });

  test('is resumed in a new process when it was killed between two turns', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say <goto>WAIT</goto>»',
        'WAIT.sh': WAIT,
        'NEXT.md': 'I am NEXT «say <result>over</result>»',
      },
    });
    const running = await rig.start();
    await rig.waitForEvent('transition');
    expect((await getStatus(running.id, rig.cwd)).openConversations).toBe(1);
    const marked = await findMarkedProcesses(`${running.id}/`);
    for (const { pid, program } of marked) if (/claude/.test(program)) process.kill(pid, 'SIGKILL');
    await rig.waitForEvent('warning');
    writeFileSync(join(rig.cwd, 'gate'), '');
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(openersOf(rig)).toStrictEqual([1, null, 3]);
    expect(conversation(rig, 'I am NEXT')).toStrictEqual(['> I am START', '< <goto>WAIT</goto>', '> I am NEXT']);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0 });
  });

  test('is resumed when it was killed in the middle of a turn, which continues', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say <goto>NEXT</goto>»',
        'NEXT.md': 'I am NEXT «delay 1500» «say <result>over</result>»',
      },
    });
    const running = await rig.start();
    await rig.api.seen(({ prompt }) => prompt.startsWith('I am NEXT'));
    for (const { pid, program } of await findMarkedProcesses(`${running.id}/`))
      if (/claude/.test(program)) process.kill(pid, 'SIGKILL');
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.eventsOf('turn_ended').map(({ state, failure }) => [state, failure])).toStrictEqual([
      ['START.md', null],
      ['NEXT.md', 'transient'],
      ['NEXT.md', null],
    ]);
    expect(openersOf(rig)).toStrictEqual([1, 1, 3]);
  });

  test('ends with a killed Raymond after its turn, whose answer a resume follows once', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say <goto>NEXT</goto>»',
        'NEXT.md': 'I am NEXT «delay 1000» «say <goto>LAST</goto>»',
        'LAST.md': 'I am LAST «say <result>over</result>»',
      },
    });
    await rig.startAndKill('I am NEXT');
    const run = await resumeToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.api.requests.map(({ prompt }) => prompt.slice(0, 9))).toStrictEqual([
      'I am STAR',
      'I am NEXT',
      'I am LAST',
    ]);
    expect(openersOf(rig)).toStrictEqual([1, 1, 3]);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
  });

  test('is gone when a killed Raymond had it open between two turns', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «say <goto>WAIT</goto>»',
        'WAIT.sh': 'touch waits; sleep 1; echo "<goto>NEXT</goto>"',
        'NEXT.md': 'I am NEXT «say <result>over</result>»',
      },
    });
    await rig.startAndKill('I am START', 'waits');
    for (let tries = 0; tries < 200 && (await claudesOf(rig)) > 0; tries += 1) await delay(50);
    expect(await claudesOf(rig)).toBe(0);
    const run = await resumeToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
  });
});

/** The living processes of Claude Code of all runs of a rig. */
async function claudesOf({ cwd }: Rig): Promise<number> {
  const runs = readdirSync(join(cwd, '.raymond', 'runs'));
  const marked = await Promise.all(runs.map((run) => findMarkedProcesses(`${run}/`)));
  return marked.flat().filter(({ program }) => /claude/.test(program)).length;
}
