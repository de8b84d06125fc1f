import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PostgresServer } from '../postgres/server.ts';
import { type Command, Fleet } from './fleet.ts';

let server: PostgresServer;
let fleet: Fleet;

beforeAll(async () => {
  server = await PostgresServer.start();
  fleet = await Fleet.open(server);
});

afterAll(async () => {
  await fleet.close();
  await server.stop();
});

/** Each turn notes itself, so that one that is run twice, or never, can be seen. */
const STEPS = 6;
const WORKFLOW = Object.fromEntries(
  Array.from({ length: STEPS }, (_, at) => [
    at === 0 ? 'steps/START.sh' : `steps/S${at}.sh`,
    `#!/bin/bash
echo "$RAYMOND_WORKFLOW_ID ${at}" >> trace
sleep 0.${(at % 3) + 1}
echo "${at === STEPS - 1 ? '<result>$RAYMOND_WORKFLOW_ID</result>' : `<goto>S${at + 1}.sh</goto>`}"
`,
  ]),
);

/** A longer series: RAYMOND_FLEET_KILLS=50 npx vitest run test/fleet/kills.test.ts */
const KILLS = Number(process.env.RAYMOND_FLEET_KILLS ?? 4);
const RUNS = 6;

test('three workers are killed at random, and the database once: every turn runs once, every run ends', async () => {
  fleet.write(WORKFLOW);
  const names = ['one', 'two', 'three'];
  const workers = new Map<string, Command>();
  for (const name of names) workers.set(name, await fleet.worker(name));
  const ids = Array.from({ length: RUNS }, (_, at) => `run-${at}`);
  const following = ids.map((id) => fleet.run('run', 'steps', '--run-id', id));
  for (let kill = 0; kill < KILLS; kill += 1) {
    await delay(100 + Math.random() * 600);
    const name = names[Math.floor(Math.random() * names.length)] ?? 'one';
    await workers.get(name)?.kill('SIGKILL');
    if (kill === 1) {
      await server.kill();
      await server.restart();
    }
    workers.set(name, await fleet.worker(name));
  }
  const ended = await Promise.all(following);
  expect(ended.map(({ code, out }) => [code, out])).toStrictEqual(ids.map((id) => [0, `${id}\n`]));
  const trace = readFileSync(join(fleet.folder, 'trace'), 'utf8').trim().split('\n').sort();
  expect(trace).toStrictEqual(ids.flatMap((id) => Array.from({ length: STEPS }, (_, at) => `${id} ${at}`)).sort());
}, 300_000);
