import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { PostgresServer } from '../postgres/server.ts';
import { Fleet } from './fleet.ts';

/** Gives the tests of a file one PostgreSQL, and a fleet to each of them or to all together; `prepare` gets both before they begin. */
export function useFleet(
  scope: 'each' | 'all',
  prepare: (fleet: Fleet, server: PostgresServer) => void | Promise<void>,
): void {
  let server: PostgresServer;
  let fleet: Fleet | undefined;
  const [before, after] = scope === 'each' ? [beforeEach, afterEach] : [beforeAll, afterAll];
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  // What is after all is called in reverse order: the server goes last.
  afterAll(() => server.stop());
  before(async () => {
    fleet = await Fleet.open(server);
    await prepare(fleet, server);
  });
  after(() => fleet?.close());
}
