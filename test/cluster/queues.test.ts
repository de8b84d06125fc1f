import { createServer, connect as openSocket, type Server, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { QueueClient, serveQueues } from '../../src/cluster/queues.ts';
import { openDatabase } from '../../src/storage/postgres/database.ts';
import type { PostgresServer } from '../postgres/server.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let server: PostgresServer;
let fleet: Fleet;

useFleet('all', (opened, started) => {
  fleet = opened;
  server = started;
});

test('an entry of each queue whose handler throws is tried again, and is not over', async () => {
  const { database } = fleet;
  const done: string[] = [];
  const failed = new Set<string>();
  const failOnce = async (name: string): Promise<void> => {
    if (failed.has(name)) done.push(name);
    else failed.add(name);
    if (!done.includes(name)) throw new Error(`${name} is refused`);
  };
  const warnings: string[] = [];
  const queues = await QueueClient.open(database);
  await queues.register('one');
  const handlers = {
    place: () => failOnce('place'),
    drive: () => failOnce('drive'),
    turn: () => failOnce('turn'),
  };
  const served = await serveQueues(database, 'one', handlers, (message) => warnings.push(message));
  const request = { run: 'r', generation: 1, options: {}, retry: false };
  await database.transaction(async (client) => {
    await queues.add(client, request, { name: 'place', attempt: 1 });
    await queues.add(client, request, { name: 'drive', worker: 'one' });
    const turn = { run: 'r', agent: 'main', turn: '1', node: 'one', retry: false, generation: 1 };
    await queues.addTurn(client, turn);
  });
  const find = (): Promise<readonly unknown[]> =>
    database.query('select name, status from raymond_dbos.workflow_status order by name');
  await expect
    .poll(find, { timeout: 30_000 })
    .toStrictEqual(['drive', 'place', 'turn'].map((name) => ({ name, status: 'SUCCESS' })));
  await served.stop();
  await queues.close();
  expect(done.toSorted()).toStrictEqual(['drive', 'place', 'turn']);
  expect(warnings.toSorted()).toStrictEqual(
    ['drive', 'place', 'turn'].map((name) => `${name} is refused It is tried again in 1 s.`),
  );
}, 60_000);

/** Passes everything on to a port until it is told to swallow it, as a network does that loses packets. */
async function startProxy(port: number): Promise<{ readonly port: number; swallow(): void; close(): void }> {
  const sockets: Socket[] = [];
  let isSilent = false;
  const proxy: Server = createServer((near) => {
    const far = openSocket(port, '127.0.0.1');
    sockets.push(near, far);
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      from.on('error', () => {});
      from.on('data', (bytes) => isSilent || to.write(bytes));
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  const address = proxy.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    swallow: () => {
      isSilent = true;
    },
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('a database that goes silent without a word counts as one that cannot be reached', async () => {
  const proxy = await startProxy(server.port);
  const address = new URL(fleet.address);
  address.port = String(proxy.port);
  address.searchParams.set('query_timeout', '200');
  const database = await openDatabase(address.href);
  try {
    await database.query('select 1');
    proxy.swallow();
    await expect(database.query('select 1')).rejects.toThrow('cannot be reached');
    // What nobody says in the address: without a limit, who waits would wait for hours.
    const { options } = (await openDatabase(fleet.address)).pool;
    expect(options).toMatchObject({ query_timeout: 30_000, keepAlive: true, keepAliveInitialDelayMillis: 10_000 });
  } finally {
    proxy.close();
    await database.close();
  }
});
