import { afterAll, beforeAll } from 'vitest';
import { createDatabaseStorage } from '../../../src/cluster/database-storage.ts';
import { initDatabase } from '../../../src/cluster/init-database.ts';
import { type Database, openDatabase } from '../../../src/storage/postgres/database.ts';
import { createDatabaseLeases } from '../../../src/storage/postgres/lease.ts';
import { LiveOutput } from '../../../src/storage/postgres/live-output.ts';
import { createDatabaseOutput } from '../../../src/storage/postgres/output.ts';

import { PostgresServer } from '../../postgres/server.ts';
import { describeStorageContract, type StorageHarness } from '../storage-contract.ts';
import { temporaryFolders } from '../temp.ts';

const temporary = temporaryFolders();

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

describeStorageContract('PostgreSQL', async (): Promise<StorageHarness> => {
  await database.query('truncate raymond.runs cascade');
  const node = new LiveOutput(database, 'one', () => {});
  return {
    storage: { ...createDatabaseStorage(database), output: createDatabaseOutput(database, node) },
    turnFolder: () => temporary(),
    poll: () => node.poll(),
    create({ run, events }) {
      const rows = { workflow: 'hash', workflowPath: 'x', mark: run.id, labels: [] };
      const node = { name: 'one', bootId: null, countMissedHeartbeats: () => 0 };
      return createDatabaseLeases(database, { rows, node, snapshotEveryMs: 1e9 }).create({ run, events });
    },
  };
});
