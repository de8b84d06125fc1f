import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatClaudeVersion } from '../../src/turns/claude/find-claude.ts';
import { PINNED } from '../claude-code/pinned.ts';
import { type MessagesApi, startMessagesApi } from '../messages-api/server.ts';
import { PostgresServer } from '../postgres/server.ts';
import { type Command, Fleet } from './fleet.ts';

let server: PostgresServer;
let api: MessagesApi;

beforeAll(async () => {
  server = await PostgresServer.start();
  api = await startMessagesApi();
});

afterAll(async () => {
  await api.close();
  await server.stop();
});

/** Starts a worker with a home of its own, as on another machine. */
async function startWorker(fleet: Fleet, name: string, ...args: readonly string[]): Promise<Command> {
  const home = join(fleet.folder, 'homes', name);
  mkdirSync(home, { recursive: true });
  const folder = join(fleet.folder, 'workers', name);
  const worker = fleet.start(['worker', '--name', name, '--folder', folder, ...args], {
    ...{ HOME: home, TMPDIR: home, CLAUDE_CODE_TMPDIR: home },
    ...{ ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'made-up', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  });
  await worker.says('is ready');
  return worker;
}

for (const { path, version, isInstalled } of PINNED) {
  const name = `Claude Code ${formatClaudeVersion(version)} on another worker than the one that drives the run`;
  const title = isInstalled ? name : `${name} (skipped: node test/claude-code/install.mjs installs it)`;
  describe.skipIf(!isInstalled)(title, { timeout: 100_000 }, () => {
    test('goes on when its worker is killed, can be interrupted, and is paid once', async () => {
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
          startWorker(fleet, 'one', '--label', 'drives=yes'),
          startWorker(fleet, 'two'),
        ]);
        await api.seen(({ prompt }) => prompt.startsWith(first ?? ''));
        await home.kill('SIGKILL');
        await startWorker(fleet, 'two');
        const { messages } = await api.seen(({ prompt }) => prompt.startsWith(second ?? ''));
        expect(JSON.stringify(messages)).toContain('noted');
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
  });
}
