import { expect, onTestFinished, test } from 'vitest';
import { createConversationCopies } from '../../src/cluster/node-run.ts';
import { type Database, openDatabase } from '../../src/storage/postgres/database.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('all', (opened) => {
  fleet = opened;
});

/** Opens the database of the fleet for somebody who waits only this long for an answer. */
async function openImpatiently(timeoutMs: number): Promise<Database> {
  const address = new URL(fleet.address);
  address.searchParams.set('query_timeout', String(timeoutMs));
  const database = await openDatabase(address.href);
  onTestFinished(() => database.close());
  return database;
}

const SLOWLY = 'select length($1) as bytes, pg_sleep(0.5)::text as slept';

test('a statement gets as much time as its values need', async () => {
  const database = await openImpatiently(100);
  await expect(database.query(SLOWLY, ['little'])).rejects.toThrow('cannot be reached');
  const large = Buffer.alloc(2 << 20, 'x');
  expect(await database.query(SLOWLY, [large])).toMatchObject([{ bytes: large.length }]);
  const texts = SLOWLY.replace('$1', '($1::text[])[1]');
  expect(await database.query(texts, [[large.toString()]])).toMatchObject([{ bytes: large.length }]);
});

test('a large answer gets as much time as it needs', async () => {
  const database = await openImpatiently(100);
  await fleet.database.query(`create table large as select 1 as id, repeat('x', 1 << 20)::bytea as content`);
  const isQuick = `current_query() like 'select octet%'`;
  const from = `from large where id = $1 and (${isQuick} or pg_sleep(0.5)::text is not null)`;
  const read = (id: number): Promise<Buffer | null | undefined> =>
    database.retryUntilReachable(() => database.queryBytes('content', from, [id]));
  expect((await read(1))?.length).toBe(1 << 20);
  expect(await read(2)).toBeUndefined();
});

test('what a run can do without is given up if the database does not answer in time', async () => {
  const database = await openImpatiently(100);
  const warnings: string[] = [];
  const copies = createConversationCopies(database, 'r', 'one', (message) => warnings.push(message));
  await fleet.database.transaction(async (client) => {
    await client.query('lock table raymond.blobs');
    await copies.store({ agent: 'main', number: 1, state: 'A.md' }, 's', { 'a.jsonl': Buffer.from('said') });
  });
  expect(warnings).toStrictEqual([expect.stringContaining('a conversation of r stays on this worker')]);
});
