import { expect, test } from 'vitest';
import { followDatabaseRun } from '../../src/cluster/follow-run.ts';
import { loadRunRows } from '../../src/storage/postgres/run-rows.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
  fleet.write({
    'pair/START.sh': `#!/bin/bash\necho '<fork next="ONE.md">ONE.md</fork>'\n`,
    'pair/ONE.md': '---\nallowed_transitions: [{ tag: result }]\n---\nWork.',
    'answers.yaml': 'answers:\n  ONE: { seconds: 600, text: <result>done</result> }\n',
  });
});

const readNodes = async () => JSON.parse((await fleet.run('nodes', '--json')).out).nodes;

/** How many agents somebody who follows a run is told of as queued, after the first look at all of it. */
async function countQueuedLive(id: string): Promise<number> {
  const { run: initial } = await loadRunRows(fleet.database, id);
  let queued: ReadonlySet<string> = new Set();
  const watchQueued = (agents: ReadonlySet<string>): void => {
    queued = agents;
  };
  const handle = followDatabaseRun(fleet.database, { initial, fromSeq: 0, generation: 1 }, { watchQueued });
  // It stops only after a look.
  handle.stop();
  await handle.finished.catch(() => {});
  return queued.size;
}

test('raymond nodes lists machines with slots, load, heartbeat and whether they drain', async () => {
  expect((await fleet.run('nodes')).out).toBe('No node has used this database. `raymond node` starts one.\n');
  const doctor = async () => {
    const { checks } = JSON.parse((await fleet.run('doctor', '--json')).out);
    return checks.find(({ name }: { name: string }) => name === 'database');
  };
  expect(await doctor()).toMatchObject({ level: 'warning', message: expect.stringContaining('no node is alive') });
  const one = await fleet.worker('one', '--slots', '1', '--label', 'repo=app');
  expect(await doctor()).toMatchObject({ level: 'ok', message: expect.stringMatching(/: 1 node alive, 1 slot$/) });
  const run = fleet.start(['run', 'pair', '--run-id', 'busy', '--agent', 'replay:answers.yaml']);
  await expect
    .poll(readNodes, { timeout: 10_000 })
    .toMatchObject([
      { name: 'one', status: 'alive', slots: 1, turns_running: 1, turns_queued: 1, runs: 1, labels: ['repo=app'] },
    ]);
  const { out } = await fleet.run('nodes');
  expect(out).toMatch(/NODE +STATUS +SLOTS +TURNS +RUNS +HEARTBEAT .*\none +alive +1 +1 \+ 1 queued +1 +\d+s ago/);
  const status = (await fleet.run('status', 'busy')).out;
  expect(status).toContain('busy  running (node one)\n');
  expect(status).toContain('1 turn is under way.\n1 turn queued for a slot of node one.\n');
  expect((await fleet.run('list')).out).toContain('running (one)');
  await fleet.run('stop', 'busy', '--now');
  await run.ended;
  await one.kill();
  await fleet.database.query(`update raymond.nodes set heartbeat_at = now() - interval '1 minute'`);
  expect(await readNodes()).toMatchObject([{ name: 'one', status: 'gone', turns_running: 0 }]);
  const again = await fleet.worker('one');
  expect(await again.kill('SIGTERM')).toMatchObject({ code: 0 });
  expect(await readNodes()).toMatchObject([{ name: 'one', status: 'stopped', heartbeat_age_ms: expect.any(Number) }]);
});

test('turns of several runs that wait for the slots of one node show as queued everywhere', async () => {
  const node = await fleet.worker('one', '--slots', '3');
  const ids = ['first', 'second'];
  const runs = ids.map((id) => fleet.start(['run', 'pair', '--run-id', id, '--agent', 'replay:answers.yaml']));
  const readStatuses = async () => {
    const documents = await Promise.all(
      ids.map(async (id) => JSON.parse((await fleet.run('status', id, '--json')).out)),
    );
    return documents.flatMap(({ agents }) => agents.map(({ status }: { status: string }) => status)).toSorted();
  };
  await expect.poll(readStatuses, { timeout: 20_000 }).toStrictEqual(['queued', 'running', 'running', 'running']);
  expect(await readNodes()).toMatchObject([{ turns_running: 3, turns_queued: 1, runs: 2 }]);
  // So does the live view of those who follow a run.
  expect((await Promise.all(ids.map(countQueuedLive))).toSorted()).toStrictEqual([0, 1]);
  const texts = await Promise.all(ids.map(async (id) => (await fleet.run('status', id)).out));
  expect(texts.filter((text) => text.includes('1 turn queued for a slot of node one.'))).toHaveLength(1);
  expect(texts.join('').match(/ONE\.md +queued/g)).toHaveLength(1);
  // A slot that is given back makes the queued turn run.
  const [full] = ids.filter((_, at) => !texts[at]?.includes('queued'));
  await fleet.run('stop', full ?? '', '--now');
  await expect
    .poll(async () => (await readStatuses()).filter((each) => each === 'queued'), { timeout: 20_000 })
    .toStrictEqual([]);
  await node.kill();
  expect(await readNodes()).toMatchObject([{ turns_queued: 0 }]);
  for (const run of runs) await run.kill();
});
