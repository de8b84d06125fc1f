import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sendMessage } from '../../src/app/say.ts';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import type { Logged } from '../messages-api/server.ts';
import { storageIn } from '../storage/files/open-files.ts';
import { charged, type Rig, resumeToEnd, served, setUp, withEachClaude } from './rig.ts';

/** How often a request holds this text. */
const mentions = ({ messages }: Logged, text: string): number => JSON.stringify(messages).split(text).length - 1;

/** How often the conversation, as the API got it last, holds this text. */
const mentionsAtEnd = ({ api }: Rig, text: string): number =>
  Math.max(...api.requests.map((each) => mentions(each, text)));

/** Says something to `main` of the run of a rig, from outside. */
const say = ({ cwd }: Rig, text: string) =>
  sendMessage('last', { storage: storageIn(cwd), env: process.env, agent: null, text });

const GATED = '«tool Bash {"command":"touch waits; until [ -e gate ]; do sleep 0.05; done"}»';

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await delay(20);
};

withEachClaude('what is said to an agent', (pinned) => {
  test('is heard in the running turn, once, and the answer after it counts', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': `I am START ${GATED} «say <goto>NEXT</goto>»`,
        'NEXT.md': 'I am NEXT «say <result>over</result>»',
      },
    });
    const running = await rig.start();
    await until(() => readdirSync(rig.cwd).includes('waits'));
    expect(await say(rig, 'Mind the gap')).toMatchObject({ fate: 'turn', agent: { id: 'main' } });
    writeFileSync(join(rig.cwd, 'gate'), '');
    const run = await running.finished;
    expect(run.agents.map(({ phase, messages }) => [phase, messages])).toStrictEqual([
      [{ kind: 'ended', result: 'over' }, []],
    ]);
    expect(rig.eventsOf('said_delivered')).toMatchObject([{ turn: 1, via: 'turn', state: 'START.md' }]);
    expect(mentionsAtEnd(rig, 'Mind the gap')).toBe(1);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
  });

  test('as the answer is being written gets an answer of its own, which never answers the next state', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «delay 1500» «say <goto>WRONG</goto>»',
        'WRONG.md': 'I am WRONG «say <result>wrong</result>»',
        'NEXT.md': 'I am NEXT «say <result>over</result>»',
      },
    });
    const running = await rig.start();
    await rig.api.seen(({ prompt }) => prompt.startsWith('I am START'));
    expect(await say(rig, 'No, elsewhere «delay 400» «say <goto>NEXT</goto>»')).toMatchObject({ fate: 'turn' });
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.api.requests.map(({ prompt }) => prompt.slice(0, 9))).toStrictEqual([
      'I am STAR',
      'No, elsew',
      'I am NEXT',
    ]);
    expect(rig.eventsOf('turn_ended').map(({ state, failure }) => [state, failure])).toStrictEqual([
      ['START.md', null],
      ['NEXT.md', null],
    ]);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
  });

  test('to a turn that cannot be reached is put before the next prompt', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «delay 1000» «say <goto>NEXT</goto>»',
        'NEXT.md': 'I am NEXT «say <result>over</result>»',
      },
      options: { keepOpenMs: 0 },
    });
    const running = await rig.start();
    await rig.api.seen(({ prompt }) => prompt.startsWith('I am START'));
    expect(await say(rig, 'Mind the gap')).toMatchObject({ fate: 'prompt' });
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(rig.api.requests.at(-1)?.prompt).toMatch(
      /^A message from the person who follows your work:\n\nMind the gap\n\n---\n\nI am NEXT/,
    );
    expect(rig.eventsOf('said_delivered')).toMatchObject([{ turn: 2, via: 'prompt' }]);
  });

  test('outlives a Raymond that is killed: heard by the turn that continues, or with the next prompt, once', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': 'I am START «delay 2500» «say <goto>NEXT</goto>»',
        'NEXT.md': 'I am NEXT «say <result>over</result>»',
      },
    });
    const killed = rig.startAndKill('I am START', 'go');
    await rig.api.seen(({ prompt }) => prompt.startsWith('I am START'));
    expect(await say(rig, 'Written, then killed «say <goto>NEXT</goto>»')).toMatchObject({ fate: 'turn' });
    writeFileSync(join(rig.cwd, 'go'), '');
    await killed;
    expect(await say(rig, 'Nobody drives it')).toMatchObject({ fate: 'resume' });
    const run = await resumeToEnd(rig);
    expect(run.agents.map(({ phase, messages }) => [phase, messages])).toStrictEqual([
      [{ kind: 'ended', result: 'over' }, []],
    ]);
    expect(mentionsAtEnd(rig, 'Written, then killed')).toBe(1);
    expect(mentionsAtEnd(rig, 'Nobody drives it')).toBe(1);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0, tokens: served(rig) });
  });

  test('outlives the process of its turn', async (context) => {
    const rig = await setUp(context, pinned, {
      states: {
        'START.md': `I am START ${GATED} «say <goto>NEXT</goto>»`,
        'NEXT.md': 'I am NEXT «say <result>over</result>»',
      },
      script: ({ prompt }) =>
        /You were interrupted/.test(prompt) ? { blocks: [{ type: 'text', text: '<goto>NEXT</goto>' }] } : undefined,
    });
    const running = await rig.start();
    await until(() => readdirSync(rig.cwd).includes('waits'));
    expect(await say(rig, 'Mind the gap')).toMatchObject({ fate: 'turn' });
    for (const { pid, program } of await findMarkedProcesses(`${running.id}/`))
      if (/claude/.test(program)) process.kill(pid, 'SIGKILL');
    writeFileSync(join(rig.cwd, 'gate'), '');
    const run = await running.finished;
    expect(run.agents.map(({ phase }) => phase)).toStrictEqual([{ kind: 'ended', result: 'over' }]);
    expect(mentionsAtEnd(rig, 'Mind the gap')).toBe(1);
    expect(rig.eventsOf('said_delivered')).toMatchObject([{ turn: 2, via: 'prompt' }]);
  });
});
