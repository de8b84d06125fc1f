import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PINNED } from '../claude-code/pinned.ts';
import { type MessagesApi, startMessagesApi } from '../messages-api/server.ts';
import { PostgresServer } from '../postgres/server.ts';
import { Fleet } from './fleet.ts';

const claude = PINNED.at(-1);
const reset = Math.floor(Date.now() / 1000) + 3600;
let server: PostgresServer;
let api: MessagesApi;

beforeAll(async () => {
  server = await PostgresServer.start();
  api = await startMessagesApi(({ prompt }) => ({
    blocks: [{ type: 'text', text: prompt.startsWith('I am START') ? '<goto>NEXT</goto>' : '<result>over</result>' }],
    headers: {
      'anthropic-ratelimit-unified-status': 'allowed',
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'anthropic-ratelimit-unified-reset': `${reset}`,
      'anthropic-ratelimit-unified-5h-status': 'allowed',
      'anthropic-ratelimit-unified-5h-utilization': '0.85',
      'anthropic-ratelimit-unified-5h-reset': `${reset}`,
    },
  }));
});

afterAll(async () => {
  await api.close();
  await server.stop();
});

const title = claude?.isInstalled === true ? '' : ' (skipped: node test/claude-code/install.mjs installs Claude Code)';

describe.skipIf(claude?.isInstalled !== true)(`the quota of runs on a database${title}`, { timeout: 100_000 }, () => {
  test('is in the run, and the runs of a worker share what they learn of it', async () => {
    const fleet = await Fleet.open(server);
    try {
      fleet.write({ 'talk/START.md': 'I am START', 'talk/NEXT.md': 'I am NEXT' });
      const home = join(fleet.folder, 'home');
      mkdirSync(home);
      const worker = fleet.start(['worker', '--name', 'one', '--folder', join(fleet.folder, 'one')], {
        HOME: home,
        XDG_CONFIG_HOME: '',
        TMPDIR: home,
        CLAUDE_CODE_TMPDIR: home,
        ANTHROPIC_BASE_URL: api.url,
        ANTHROPIC_API_KEY: '',
        CLAUDE_CODE_OAUTH_TOKEN: 'made-up',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      });
      await worker.says('is ready');
      const run = (id: string) =>
        fleet.run('run', 'talk', '--run-id', id, '--claude', claude?.path ?? '', '--reserve', '20%', '--no-wait');
      const prompts = (): readonly string[] => api.requests.map(({ prompt }) => prompt);
      const first = await run('first');
      expect([first.code, prompts()]).toStrictEqual([3, ['I am START']]);
      expect(first.err).toContain('85 % of the 5-hour window is used');
      const status = await fleet.run('status', 'first', '--json');
      expect(JSON.parse(status.out).quota.windows).toMatchObject([{ type: 'five_hour', percent: 85 }]);
      expect([(await run('second')).code, prompts()]).toStrictEqual([3, ['I am START']]);
    } finally {
      await fleet.close();
    }
  });
});
