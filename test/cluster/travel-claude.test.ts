import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatClaudeVersion } from '../../src/turns/claude/find-claude.ts';
import { PINNED } from '../claude-code/pinned.ts';
import type { Reply } from '../messages-api/reply.ts';
import type { ApiRequest } from '../messages-api/request.ts';
import { type MessagesApi, startMessagesApi } from '../messages-api/server.ts';
import { PostgresServer } from '../postgres/server.ts';
import { type Command, Fleet } from './fleet.ts';

let server: PostgresServer;
let api: MessagesApi;

beforeAll(async () => {
  server = await PostgresServer.start();
  api = await startMessagesApi(listen);
});

afterAll(async () => {
  await api.close();
  await server.stop();
});

/** Lets a turn wait for `a-over`, then until it has heard of the gap, then for `b-over`. */
function listen({ prompt, messages }: ApiRequest): Reply | undefined {
  const said = JSON.stringify(messages);
  if (!prompt.startsWith('I listen') && !prompt.includes('Mind the gap')) return undefined;
  const wait = (name: string): string => `touch ${name}; until [ -e ${name}-over ]; do sleep 0.05; done`;
  const todo = said.includes('touch a') ? (said.includes('Mind the gap') ? wait('b') : 'sleep 0.1') : wait('a');
  if (said.includes('touch b')) return { blocks: [{ type: 'text', text: '<goto>NEXT.md</goto>' }] };
  return { blocks: [{ type: 'tool_use', name: 'Bash', input: { command: todo } }] };
}

for (const { path, version, isInstalled } of PINNED) {
  const name = `Claude Code ${formatClaudeVersion(version)} on another worker than the one that drives the run`;
  const title = isInstalled ? name : `${name} (skipped: node test/claude-code/install.mjs installs it)`;
  describe.skipIf(!isInstalled)(title, { timeout: 100_000 }, () => {
    test('continues when its worker is killed, can be interrupted, and is paid once', async () => {
      const fleet = await Fleet.open(server);
      const [first, second] = ['first', 'second'].map((word) => `${word} ${version.join('.')}`);
      const paidBefore = api.chargedUsd();
      try {
        fleet.write({
          'talk/START.md': `${first} «delay 2500» «say <goto>NEXT.md</goto> noted»`,
          'talk/NEXT.md': `${second} «delay 60000» «say <result>never</result>»`,
        });
        const ended = fleet.run('run', 'talk', '--run-id', 'far', '--claude', path, '--label', 'drives=yes');
        await fleet.setHome('far', 'two');
        const [, home] = await Promise.all([
          fleet.claudeWorker(api, 'one', '--label', 'drives=yes'),
          fleet.claudeWorker(api, 'two'),
        ]);
        await api.seen(({ prompt }) => prompt.startsWith(first ?? ''));
        const words = `said in ${first} «say <goto>NEXT.md</goto> noted»`;
        expect(await fleet.run('say', 'far', words)).toMatchObject({
          code: 0,
          err: expect.stringMatching(/running turn/),
        });
        await home.kill('SIGKILL');
        await fleet.claudeWorker(api, 'two');
        const { messages } = await api.seen(({ prompt }) => prompt.startsWith(second ?? ''));
        expect(JSON.stringify(messages)).toContain('noted');
        // Whether the turn has got it can be told only afterwards; the agent gets it once.
        expect(JSON.stringify(messages).split('said in').length - 1).toBe(1);
        const said = '«say <result>as told</result>»';
        expect(await fleet.run('interrupt', 'far', said)).toMatchObject({ code: 0 });
        expect(await ended).toMatchObject({ code: 0, out: 'as told\n' });
        const status = JSON.parse((await fleet.run('status', 'far', '--json')).out);
        expect(status.agents).toMatchObject([{ home: 'two', status: 'ended' }]);
        expect(status.cost_usd).toBeCloseTo(api.chargedUsd() - paidBefore, 6);
      } finally {
        await fleet.close();
      }
    });

    if (path !== PINNED.at(-1)?.path) return;

    test('hears in its running turn what is said to it, once, and is interrupted, also if the driver of the run is killed', async () => {
      const fleet = await Fleet.open(server);
      const waits = async (name: string): Promise<void> => {
        await expect.poll(() => existsSync(join(fleet.folder, name)), { timeout: 30_000 }).toBe(true);
      };
      const next = `next in ${fleet.folder}`;
      const goOn = (name: string): void => writeFileSync(join(fleet.folder, `${name}-over`), '');
      const startDriver = (): Promise<Command> => fleet.claudeWorker(api, 'one', '--label', 'drives=yes');
      const events = async (kind: string): Promise<readonly object[]> => {
        const { out } = await fleet.run('logs', 'far', '--json');
        return out.split('\n').flatMap((line) => (line.includes(`"${kind}"`) ? [JSON.parse(line)] : []));
      };
      try {
        fleet.write({
          'talk/START.md': 'I listen',
          'talk/NEXT.md': `${next} «delay 60000» «say <result>never</result>»`,
        });
        const asked = ['run', 'talk', '--run-id', 'far', '--claude', path, '--label', 'drives=yes'];
        const ended = fleet.run(...asked);
        await fleet.setHome('far', 'two');
        const [first] = await Promise.all([startDriver(), fleet.claudeWorker(api, 'two')]);
        await waits('a');
        const said = await fleet.run('say', 'far', 'Mind the gap');
        expect(said).toMatchObject({ code: 0, err: expect.stringMatching(/running turn/) });
        await first.kill('SIGKILL');
        const second = await startDriver();
        goOn('a');
        const delivered = [{ agent: 'main', turn: 1, via: 'turn' }];
        await expect.poll(() => events('said_delivered'), { timeout: 30_000 }).toMatchObject(delivered);
        await waits('b');
        goOn('b');
        await api.seen(({ prompt }) => prompt.startsWith(next));
        await fleet.run('interrupt', 'far', '«say <result>over</result>»');
        await second.kill('SIGKILL');
        await startDriver();
        expect(await ended).toMatchObject({ code: 0, out: 'over\n' });
        const interrupted = { agent: 'main', turn: 3, via: 'prompt' };
        expect(await events('said_delivered')).toMatchObject([...delivered, interrupted]);
        const last = api.requests.findLast(({ messages }) => JSON.stringify(messages).includes(next));
        expect(JSON.stringify(last?.messages).split('Mind the gap').length - 1).toBe(1);
        expect(await fleet.database.query('select * from raymond.turn_requests')).toStrictEqual([]);
      } finally {
        await fleet.close();
      }
    });
  });
}
