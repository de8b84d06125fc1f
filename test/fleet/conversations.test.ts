import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatClaudeVersion } from '../../src/turns/claude/find-claude.ts';
import { PINNED, type Pinned } from '../claude-code/pinned.ts';
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
async function startWorker(fleet: Fleet, name: string): Promise<Command> {
  const home = join(fleet.folder, 'homes', name);
  mkdirSync(home, { recursive: true });
  const worker = fleet.start(['worker', '--name', name, '--folder', join(fleet.folder, 'workers', name)], {
    ...{ HOME: home, TMPDIR: home, CLAUDE_CODE_TMPDIR: home },
    ...{ ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'made-up', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  });
  await worker.says('is ready');
  return worker;
}

const inFleet = async (body: (fleet: Fleet) => Promise<void>): Promise<void> => {
  const fleet = await Fleet.open(server);
  try {
    await body(fleet);
  } finally {
    await fleet.close();
  }
};

/** The copy of the only conversation in the database. */
async function readCopy(fleet: Fleet): Promise<{ readonly worker: string; readonly text: string } | null> {
  const [row] = await fleet.database.query<{ worker: string; files: Buffer }>('select * from raymond.conversations');
  return row === undefined ? null : { worker: row.worker, text: gunzipSync(row.files).toString('utf8') };
}

const withEachClaude = (tests: (pinned: Pinned) => void): void => {
  for (const pinned of PINNED) {
    const name = `Claude Code ${formatClaudeVersion(pinned.version)}`;
    const title = pinned.isInstalled ? name : `${name} (skipped: node test/claude-code/install.mjs installs it)`;
    describe.skipIf(!pinned.isInstalled)(title, { timeout: 100_000 }, () => tests(pinned));
  }
};

withEachClaude(({ path, version }) => {
  test('the database has what was said as soon as the next turn begins, although the conversation stays open', () =>
    inFleet(async (fleet) => {
      const next = `next ${version.join('.')}`;
      fleet.write({
        'talk/START.md': 'the word is plum «say <goto>NEXT.md</goto> noted»',
        'talk/NEXT.md': `${next} «delay 1500» «say <result>over</result>»`,
      });
      await startWorker(fleet, 'one');
      const following = fleet.run('run', 'talk', '--run-id', 'talk', '--claude', path);
      const { messages } = await api.seen(({ prompt }) => prompt.startsWith(next));
      const copy = await readCopy(fleet);
      expect(JSON.stringify(messages)).toContain('the word is plum');
      expect(copy?.worker).toBe('one');
      expect(copy?.text).toContain('the word is plum');
      expect(copy?.text).toContain('noted');
      expect(copy?.text).not.toContain(next);
      expect(await following).toMatchObject({ code: 0, out: 'over\n' });
      expect((await readCopy(fleet))?.text).toContain('over</result>');
    }));
});
