import { afterAll, beforeAll } from 'vitest';
import { initDatabase } from '../../../src/cluster/init-database.ts';
import { createDatabaseBlobs } from '../../../src/storage/postgres/blobs.ts';
import { type Database, openDatabase } from '../../../src/storage/postgres/database.ts';
import { createDatabaseLeases } from '../../../src/storage/postgres/lease.ts';
import { loadRunRows, parseChange } from '../../../src/storage/postgres/run-rows.ts';
import { addStateChecksum } from '../../../src/storage/run-file.ts';
import { PostgresServer } from '../../postgres/server.ts';
import { describeBlobContract } from '../blob-contract.ts';
import { describeLeaseContract, type LeaseHarness } from '../lease-contract.ts';

let server: PostgresServer;
let database: Database;

beforeAll(async () => {
  server = await PostgresServer.start();
  database = await openDatabase(await server.createDatabase());
  await initDatabase(database);
});

afterAll(async () => {
  await database.close();
  await server.stop();
});

const NEVER = 1e9;

describeLeaseContract('a database', async (): Promise<LeaseHarness> => {
  await database.query('truncate raymond.runs, raymond.nodes cascade');
  const rowsOf = (id: string) =>
    database.query<{ change: string }>('select change from raymond.journal where run = $1 order by seq', [id]);
  const setSnapshot = async (id: string, edit: (text: string) => string): Promise<void> => {
    const [row] = await database.query<{ snapshot: string }>('select snapshot from raymond.runs where id = $1', [id]);
    await database.query('update raymond.runs set snapshot = $2 where id = $1', [id, edit(row?.snapshot ?? '')]);
  };
  let gaps = 0;
  return {
    process: (bootId = 'boot') =>
      createDatabaseLeases(database, {
        snapshotEveryMs: NEVER,
        // Each look may come after a silence, so that it has to be confirmed.
        node: { name: 'node', bootId, countMissedHeartbeats: () => gaps++ },
      }),
    async keepAlive({ run }) {
      await database.query(
        `insert into raymond.nodes (name, token, host, pid, identity, slots) values ('node', 'x', 'host', 1, '{}', 1)`,
      );
      await database.query(`update raymond.runs set driver = 'node' where id = $1`, [run.id]);
    },
    command: createDatabaseLeases(database, { snapshotEveryMs: NEVER }),
    load: async (id) => (await loadRunRows(database, id)).run,
    readEvents: async (id) => (await rowsOf(id)).flatMap(({ change }) => parseChange(change, id).change.events),
    setVersion: (id, version) =>
      setSnapshot(id, (text) => {
        const { checksum: _, ...content } = JSON.parse(text);
        return addStateChecksum(JSON.stringify({ ...content, version }, null, 2));
      }),
    damage: (id) => setSnapshot(id, (text) => text.replace('"seq"', '"sed"')),
    dump: async (id) => [
      await database.query('select seq, epoch, snapshot, status from raymond.runs where id = $1', [id]),
      await rowsOf(id),
    ],
  };
});

describeBlobContract('a database', async () => {
  await database.query('truncate raymond.runs, raymond.blobs cascade');
  const node = { name: 'one', bootId: null, countMissedHeartbeats: () => 0 };
  return { blobs: createDatabaseBlobs(database), process: () => createDatabaseLeases(database, { node }) };
});
