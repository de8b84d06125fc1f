import { join } from 'node:path';
import { LiveOutput } from '../../src/fleet/live-output.ts';
import { LostHomes } from '../../src/fleet/lost-homes.ts';
import { QueueClient } from '../../src/fleet/queues.ts';
import { RunFolders } from '../../src/fleet/removals.ts';
import { Requests } from '../../src/fleet/requests.ts';
import type { WorkerContext } from '../../src/fleet/run-here.ts';
import { Travel } from '../../src/fleet/travel.ts';
import { layoutOf } from '../../src/store/layout.ts';
import { IdleLimit } from '../../src/turns/idle-limit.ts';
import type { Fleet } from './fleet.ts';

/** A worker in this process that takes nothing by itself: a test gives it what it is to do. */
export async function openWorkerContext(
  { folder, database }: Fleet,
  name: string,
  overrides: Partial<WorkerContext> = {},
): Promise<WorkerContext> {
  const layout = layoutOf(join(folder, 'workers', name, '.raymond'));
  const leaving = new AbortController().signal;
  const warn = (): void => {};
  const requests = new Requests(database, name);
  const queues = await QueueClient.open(database);
  await queues.register(name);
  const lostHomes = new LostHomes(database, requests, { name, token: '' });
  return {
    name,
    database,
    requests,
    layout,
    leaving,
    env: process.env,
    bootId: null,
    countGaps: () => 0,
    wrapWorld: (world) => world,
    liveOutput: new LiveOutput(database, name),
    idleLimit: new IdleLimit(1),
    travel: new Travel(database, queues, { name, leaving, warn }, lostHomes),
    folders: new RunFolders(layout, process.env),
    warn,
    ...overrides,
  };
}
