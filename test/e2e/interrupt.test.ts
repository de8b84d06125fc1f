import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answer } from '../../src/app/answer.ts';
import { interruptTurn, sendMessage } from '../../src/app/say.ts';
import { readTurnLocator } from '../../src/conversations/records.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { charged, conversation, type Rig, resumeToEnd, setUp, withEachClaude } from './rig.ts';

const interrupt = ({ cwd }: Rig, text: string | null) =>
  interruptTurn('last', { storage: storageIn(cwd), env: process.env, agent: null, text });

const TOOL = '«tool Bash {"command":"touch waits; until [ -e gate ]; do sleep 0.05; done"}»';

const appears = async (rig: Rig, name: string): Promise<void> => {
  while (!existsSync(join(rig.cwd, name))) await delay(20);
};

/** For each turn, the number of the turn that opened its process. */
const openersOf = ({ cwd }: Rig): readonly (number | undefined)[] => {
  const runs = join(cwd, '.raymond', 'runs');
  const folder = join(runs, readdirSync(runs)[0] ?? '', 'turns');
  return readdirSync(folder).map((name) => readTurnLocator(join(folder, name))?.opener);
};

const STATES = {
  'START.md': `I am START ${TOOL} «say <goto>WRONG</goto>»`,
  'WRONG.md': 'I am WRONG «say <result>wrong</result>»',
  'NEXT.md': 'I am NEXT «say <result>over</result>»',
};

withEachClaude('an interruption', (pinned) => {
  test('ends the turn, and the agent continues with the words in the same conversation and state', async (context) => {
    const rig = await setUp(context, pinned, { states: STATES });
    const running = await rig.start();
    await appears(rig, 'waits');
    expect(await interrupt(rig, 'Other words «say <goto>NEXT</goto>»')).toMatchObject({ isTakenUp: true });
    const run = await running.finished;
    expect(run.agents.map(({ phase, messages }) => [phase, messages])).toStrictEqual([
      [{ kind: 'ended', result: 'over' }, []],
    ]);
    expect(rig.eventsOf('turn_ended').map(({ state, failure }) => [state, failure])).toStrictEqual([
      ['START.md', 'broken_off'],
      ['START.md', null],
      ['NEXT.md', null],
    ]);
    const said = conversation(rig, 'I am NEXT').filter((text) => !text.includes('tool_result'));
    expect(said.filter((text) => /I am|Other/.test(text))).toStrictEqual([
      '> I am START',
      '> Other words',
      '> I am NEXT',
    ]);
    expect(openersOf(rig)).toStrictEqual([1, 1, 1]);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0 });
  });

  test('without words asks, and continues with the answer', async (context) => {
    const rig = await setUp(context, pinned, { states: STATES, options: { onAsk: 'wait' } });
    const running = await rig.start();
    await appears(rig, 'waits');
    await interrupt(rig, null);
    const { ask } = await rig.waitForEvent('asked');
    const text = 'Other words «say <goto>NEXT</goto>»';
    await answer('last', { storage: storageIn(rig.cwd), env: process.env, ask, text, files: [] });
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.api.requests.map(({ prompt }) => prompt.slice(0, 9))).toStrictEqual([
      'I am STAR',
      'Other wor',
      'I am NEXT',
    ]);
  });

  test('of a turn with a process of its own ends that, and continues in the conversation', async (context) => {
    const rig = await setUp(context, pinned, { states: STATES, options: { keepOpenMs: 0 } });
    const running = await rig.start();
    await appears(rig, 'waits');
    await interrupt(rig, 'Other words «say <goto>NEXT</goto>»');
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.eventsOf('turn_ended').map(({ failure }) => failure)).toStrictEqual(['broken_off', null, null]);
    expect(conversation(rig, 'I am NEXT')[0]).toBe('> I am START');
  });

  test('with something said that was not heard yet delivers both, once', async (context) => {
    const rig = await setUp(context, pinned, { states: STATES });
    const running = await rig.start();
    await appears(rig, 'waits');
    expect(
      await sendMessage('last', { storage: storageIn(rig.cwd), env: process.env, agent: null, text: 'First' }),
    ).toMatchObject({
      fate: 'turn',
    });
    await interrupt(rig, 'Other words «say <goto>NEXT</goto>»');
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.api.requests.map(({ prompt }) => prompt.slice(0, 9))).toStrictEqual([
      'I am STAR',
      'First\n\nOt',
      'I am NEXT',
    ]);
  });

  test('holds although Raymond is killed before the turn has ended', async (context) => {
    const rig = await setUp(context, pinned, {
      states: { ...STATES, 'START.md': 'I am START «delay 4000» «say <goto>WRONG</goto>»' },
    });
    const killed = rig.startAndKill('I am START', 'go');
    await rig.api.seen(({ prompt }) => prompt.startsWith('I am START'));
    const asked = interrupt(rig, 'Other words «say <goto>NEXT</goto>»');
    const runs = join(rig.cwd, '.raymond', 'runs');
    const folder = join(runs, readdirSync(runs)[0] ?? '', 'inbox');
    // Names with a leading dot are files still being written; they vanish when they get their final name.
    const requests = (): string[] =>
      existsSync(folder) ? readdirSync(folder).filter((name) => /^[^.].*\.json$/.test(name)) : [];
    const isSettled = (): boolean =>
      requests().some((name) => readFileSync(join(folder, name), 'utf8').includes('"outcome":{'));
    while (!isSettled()) await delay(1);
    writeFileSync(join(rig.cwd, 'go'), '');
    await Promise.all([killed, asked.catch(() => {})]);
    const run = await resumeToEnd(rig);
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
  });
});
