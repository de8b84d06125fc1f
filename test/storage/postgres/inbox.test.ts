import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { initDatabase } from '../../../src/cluster/init-database.ts';
import { createDatabaseBlobs } from '../../../src/storage/postgres/blobs.ts';
import { type Database, openDatabase } from '../../../src/storage/postgres/database.ts';
import { createDatabaseInbox } from '../../../src/storage/postgres/inbox.ts';
import { createDatabaseLeases } from '../../../src/storage/postgres/lease.ts';
import { Requests } from '../../../src/storage/postgres/request-poll.ts';
import { insertRun } from '../../../src/storage/postgres/run-rows.ts';
import { PostgresServer } from '../../postgres/server.ts';
import { describeInboxContract } from '../inbox-contract.ts';
import { fixedHistory } from '../run-history.ts';

const BUILD = join(import.meta.dirname, '../../../build');

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

let runs = 0;

describeInboxContract('the inbox in PostgreSQL', async () => ({
  inbox: createDatabaseInbox(database),
  blobs: createDatabaseBlobs(database),
  async createRun() {
    const { run, events } = fixedHistory(0, `run-${++runs}`);
    const rows = { workflow: 'hash', workflowPath: 'x', mark: 'mark', labels: [] };
    await database.transaction((client) => insertRun(client, run, events, rows));
    await database.query(`update raymond.runs set driver = 'one' where id = $1`, [run.id]);
    return run.id;
  },
  async acquire(run) {
    const requests = new Requests(database, 'one');
    const node = { name: 'one', bootId: null, countMissedHeartbeats: () => 0 };
    const lease = await createDatabaseLeases(database, { node, requests }).acquire(run);
    return {
      leaseId: lease.leaseId,
      async pending() {
        await requests.poll();
        return lease.pending();
      },
      settle: (id, outcome) => lease.settle(id, outcome),
      close: () => lease.release(),
      abandon: () => lease.abandon(),
    };
  },
  plant: async (run, id) => {
    await database.query('insert into raymond.requests values ($1, $2, $3, $4, 0, $5)', [run, id, 'stop', 'x', '{']);
  },
  removeRun: async (run) => {
    await database.query('delete from raymond.runs where id = $1', [run]);
  },
  openElsewhere: `
    const { openDatabase } = await import(${JSON.stringify(join(BUILD, 'storage/postgres/database.js'))});
    const { createDatabaseInbox } = await import(${JSON.stringify(join(BUILD, 'storage/postgres/inbox.js'))});
    const inbox = createDatabaseInbox(await openDatabase(${JSON.stringify(database.address)}));`,
}));
