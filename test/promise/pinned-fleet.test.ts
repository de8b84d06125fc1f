/** Nodes of a fleet run a workflow as it was when the run started, whatever an agent makes of it there. */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Fleet } from '../cluster/fleet.ts';
import { useFleet } from '../cluster/use-fleet.ts';
import { EVIL } from './canned-attack.ts';

let fleet: Fleet;
useFleet('each', (opened) => {
  fleet = opened;
});

/** A script in the place of an agent: it changes the workflow where its node has unpacked it. */
const attacking = (file: string): string => `cp evil.sh "$RAYMOND_WORKFLOW_DIR/${file}"\necho '<goto>GATE</goto>'\n`;

test.each([
  ['GATE.sh', 'GATE.sh has changed since the run first read it'],
  ['NEW.sh', 'NEW.sh is new to the run'],
])('a changed %s pauses the run, and every resume puts it back', async (file, says) => {
  fleet.write({
    'wf/START.sh': attacking(file),
    'wf/GATE.sh': "echo '<result>ok</result>'\n",
    'evil.sh': EVIL,
  });
  const worker = await fleet.worker('one');
  const { code, err } = await fleet.run('run', 'wf', '--run-id', 'r1');
  expect([code, err]).toStrictEqual([3, expect.stringContaining(says)]);
  const resumed = await fleet.run('resume', 'r1');
  expect([resumed.code, resumed.out]).toStrictEqual([0, 'ok\n']);
  expect(existsSync(join(fleet.folder, 'pwned'))).toBe(false);
  await worker.kill('SIGTERM');
});

test('what was changed for one run does not run in the next one', async () => {
  fleet.write({ 'wf/START.sh': "echo '<result>ok</result>'\n" });
  const worker = await fleet.worker('one');
  expect((await fleet.run('run', 'wf')).out).toBe('ok\n');
  const unpacked = join(fleet.folder, 'workers/one/.raymond/workflows');
  for (const hash of readdirSync(unpacked)) {
    writeFileSync(join(unpacked, hash, 'wf/START.sh'), EVIL);
    writeFileSync(join(unpacked, hash, 'wf/NEW.sh'), EVIL);
  }
  expect((await fleet.run('run', 'wf')).out).toBe('ok\n');
  expect(existsSync(join(fleet.folder, 'pwned'))).toBe(false);
  await worker.kill('SIGTERM');
});
