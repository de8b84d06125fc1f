import { appendFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { deriveObservedStatus } from '../../../src/core/run/status.ts';
import { type FolderLayout, layoutOf } from '../../../src/disk/layout.ts';
import { identifyThisProcess, type ProcessIdentity } from '../../../src/process/identity.ts';
import { createFileLeases } from '../../../src/storage/files/lease.ts';
import { observeRun } from '../../../src/storage/files/observed-run.ts';
import { fixedHistory, runAfter } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';

const temporary = temporaryFolders();
const US: ProcessIdentity = await identifyThisProcess();
const NOBODY = { ...US, pid: 2 ** 22 + 1 };

/** A run that says it is running, with this on record about its owner. */
async function runningRun(owner: ProcessIdentity | string | null): Promise<FolderLayout> {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const history = fixedHistory(0);
  const lease = await createFileLeases(layout).create(history);
  await lease.release();
  const text = typeof owner === 'string' ? owner : JSON.stringify(owner);
  if (owner !== null) writeFileSync(join(layout.runFolder('run-1'), 'owner.1'), text);
  return layout;
}

describe('a run with the status running', () => {
  test.each<[string, ProcessIdentity | string | null, string]>([
    ['is, if its owner is alive', US, 'running'],
    ['has crashed, if its owner is gone', NOBODY, 'crashed'],
    ['has crashed, if it has no owner', null, 'crashed'],
    ['is elsewhere, if its owner is on another machine', { ...US, bootId: 'x', host: 'far' }, 'elsewhere'],
    ['is elsewhere, if nobody can read who its owner is', '{', 'elsewhere'],
  ])('%s', async (_, owner, standing) => {
    const layout = await runningRun(owner);
    const before = readdirSync(layout.runFolder('run-1'));
    const seen = await observeRun(layout, 'run-1');
    expect(seen.observedStatus).toBe(standing);
    const facts = typeof owner === 'string' ? null : owner;
    expect([seen.owner?.pid ?? null, seen.owner?.host ?? null]).toStrictEqual([
      facts?.pid ?? null,
      facts?.host ?? null,
    ]);
    expect(readdirSync(layout.runFolder('run-1'))).toStrictEqual(before);
  });

  test('is stopping if nothing new is started', () => {
    expect(deriveObservedStatus({ status: 'running', stop: { kind: 'stopped' } }, 'alive')).toBe('stopping');
  });
});

test('an incomplete line is ignored', async () => {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const history = fixedHistory(9);
  const lease = await createFileLeases(layout, { snapshotEveryMs: 1e9 }).create(history);
  await lease.append(history.steps);
  appendFileSync(layout.journalFile('run-1'), '{"seq":');
  expect((await observeRun(layout, 'run-1')).run).toStrictEqual(runAfter(history, history.steps.length));
  rmSync(layout.journalFile('run-1'));
  expect((await observeRun(layout, 'run-1')).run).toStrictEqual(history.run);
  await lease.release();
});
