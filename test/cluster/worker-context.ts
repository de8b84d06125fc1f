import { join } from 'node:path';
import { LostNodes } from '../../src/cluster/lost-nodes.ts';
import type { NodeContext } from '../../src/cluster/node-run.ts';
import { QueueClient } from '../../src/cluster/queues.ts';
import { RemoteTurns } from '../../src/cluster/remote-turns.ts';
import { NodeFolders } from '../../src/cluster/removals.ts';
import { IdleLimit } from '../../src/conversations/idle-limit.ts';
import { layoutOf } from '../../src/disk/layout.ts';
import { LiveOutput } from '../../src/storage/postgres/live-output.ts';
import { Requests } from '../../src/storage/postgres/request-poll.ts';
import type { Fleet } from './fleet.ts';

/** A worker in this process that takes nothing by itself: a test gives it what it is to do. */
export async function openWorkerContext(
  { folder, database }: Fleet,
  name: string,
  overrides: Partial<NodeContext> = {},
): Promise<NodeContext> {
  const layout = layoutOf(join(folder, 'workers', name, '.raymond'));
  const leaving = new AbortController().signal;
  const warn = (): void => {};
  const requests = new Requests(database, name);
  const queues = await QueueClient.open(database);
  await queues.register(name);
  const lostNodes = new LostNodes(database, requests, { name, token: '' });
  return {
    name,
    database,
    requests,
    layout,
    leaving,
    env: process.env,
    bootId: null,
    countMissedHeartbeats: () => 0,
    wrapWorld: (world) => world,
    liveOutput: new LiveOutput(database, name, () => {}),
    idleLimit: new IdleLimit(1),
    travel: new RemoteTurns(database, queues, { name, leaving, warn }, lostNodes),
    folders: new NodeFolders(layout, process.env),
    warn,
    ...overrides,
  };
}
