import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { formatClaudeVersion } from '../../src/turns/claude/find-claude.ts';
import { PINNED, type Pinned } from '../claude-code/pinned.ts';
import { type MessagesApi, startMessagesApi } from '../messages-api/server.ts';
import { PostgresServer } from '../postgres/server.ts';
import { Fleet } from './fleet.ts';

let server: PostgresServer;
let api: MessagesApi;

beforeAll(async () => {
  server = await PostgresServer.start();
  // The first answer to each such prompt never comes.
  const asked = new Set<string>();
  api = await startMessagesApi(({ prompt }) => {
    if (!prompt.startsWith('next') || asked.has(prompt)) return undefined;
    asked.add(prompt);
    return { blocks: [], delayMs: 600_000 };
  });
});

afterAll(async () => {
  await api.close();
  await server.stop();
});

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
  const [row] = await fleet.database.query<{ worker: string; files: Buffer }>(
    `select node as worker, bytes as files from raymond.blobs where key like '%/conversation/%'`,
  );
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
  test('a conversation continues at another worker if its own is gone in the middle of a turn, and knows what was said', () =>
    inFleet(async (fleet) => {
      const next = `next ${version.join('.')}`;
      await fleet.database.query(`update raymond.about set worker_deadline = '2 seconds'`);
      fleet.write({
        'talk/START.md': 'the word is plum «say <goto>NEXT.md</goto> noted»',
        'talk/NEXT.md': `${next} «say <result>over</result>»`,
      });
      const one = await fleet.claudeWorker(api, 'one');
      const following = fleet.run('run', 'talk', '--run-id', 'talk', '--claude', path, '--when-lost', 'rehome');
      await api.seen(({ prompt }) => prompt.startsWith(next));
      // Although the conversation is open, what was said in the turn before is there.
      const copy = await readCopy(fleet);
      expect(copy?.worker).toBe('one');
      expect(copy?.text).toContain('the word is plum');
      expect(copy?.text).toContain('noted');
      expect(copy?.text).not.toContain(next);

      await fleet.claudeWorker(api, 'two');
      await one.kill('SIGKILL');
      const ended = await following;
      expect(ended).toMatchObject({ code: 0, out: 'over\n' });
      expect(ended.err).toContain('the worker one is gone: continues at two');
      const asked = api.requests.filter(({ prompt }) => prompt.startsWith(next));
      expect(asked).toHaveLength(2);
      for (const { messages } of asked) {
        expect(JSON.stringify(messages)).toContain('the word is plum');
        expect(JSON.stringify(messages)).toContain('noted');
      }
      expect(await readCopy(fleet)).toMatchObject({ worker: 'two', text: expect.stringContaining(next) });

      const journal = (): Promise<readonly { readonly seq: number; readonly change: string }[]> =>
        fleet.database.query('select seq, change from raymond.journal order by seq');
      const before = await journal();
      const [run] = await fleet.database.query<{ mark: string }>('select mark from raymond.runs');
      const leftovers = (): Promise<readonly unknown[]> => findMarkedProcesses(`talk/${run?.mark}/`);
      expect(await leftovers()).not.toStrictEqual([]);
      await fleet.claudeWorker(api, 'one');
      expect(await leftovers()).toStrictEqual([]);
      // All that it adds is what the lost turn has cost.
      const after = await journal();
      expect(after.slice(0, -1)).toStrictEqual(before);
      expect(after.at(-1)?.change).toContain('"cost_corrected"');
      expect(api.requests.filter(({ prompt }) => prompt.startsWith(next))).toHaveLength(2);
    }));
});
