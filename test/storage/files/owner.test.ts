import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  identifyThisProcess,
  type ProcessIdentity,
  readStartTime,
  readStartTimeFromPs,
} from '../../../src/process/identity.ts';
import { ownerOf, takeOwnership } from '../../../src/storage/files/owner.ts';
import { asNobody, refusalOf } from '../run-history.ts';
import { temporaryFolders } from '../temp.ts';

const temporary = temporaryFolders();
const US: ProcessIdentity = await identifyThisProcess();
/** No process has this pid: it is above the maximum of Linux. */
const NOBODY = { ...US, pid: 2 ** 22 + 1 };

/** A folder whose owner record is of this process. */
function ownedBy(facts: ProcessIdentity | string): string {
  const text = typeof facts === 'string' ? facts : JSON.stringify(facts);
  return join(temporary({ 'run-1/owner.1': text }), 'run-1');
}

test('an owner records itself, keeps others away, and is removed when it is done', async () => {
  const folder = temporary();
  const owner = await takeOwnership(folder);
  const file = join(folder, 'owner.1');
  const life = expect.stringMatching(/^[0-9a-f]{32}$/);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ ...US, life });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toStrictEqual(['owner.1']);
  expect(await ownerOf(folder)).toStrictEqual({
    number: 1,
    state: 'alive',
    facts: US,
    leaseId: life,
    readsInbox: true,
  });
  expect(owner.stillOwner()).toBe(true);
  await refusalOf(() => takeOwnership(folder));
  await owner.release();
  expect(await ownerOf(folder)).toBe(undefined);
  expect((await takeOwnership(folder)).number).toBe(1);
});

describe('a run is taken from an owner that is', () => {
  test.each<[string, ProcessIdentity]>([
    ['dead', NOBODY],
    ['dead, its number given to another process', { ...US, startTime: '1' }],
    ['from before the machine was started again', { ...US, bootId: 'other' }],
    [
      'from before it was started again, in what was another container',
      { ...US, bootId: 'other', namespace: 'pid:[1]' },
    ],
    ['dead, on a machine whose name has changed since', { ...NOBODY, host: 'elsewhere' }],
  ])('%s', async (_, facts) => {
    const folder = ownedBy(facts);
    expect((await ownerOf(folder))?.state).toBe('gone');
    expect((await takeOwnership(folder)).number).toBe(2);
    expect(readdirSync(folder).sort()).toStrictEqual(['owner.2']);
  });

  test('a zombie: dead, but not yet reaped by its parent', async () => {
    // The shell becomes a program that never waits for the child it inherits; only then the child may end.
    const script = 'exec 3<&0; (read line <&3) & echo $!; exec sleep 60';
    const parent = spawn('sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] });
    const over = once(parent, 'exit');
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    const seen = (path: string, what: RegExp): Promise<void> =>
      vi.waitFor(() => expect(readFileSync(path, 'utf8')).toMatch(what), { interval: 1 });
    await seen(`/proc/${parent.pid}/comm`, /^sleep/);
    expect(await readStartTime(pid)).toMatch(/^\d+$/);
    parent.stdin.write('end\n');
    await seen(`/proc/${pid}/stat`, /\) Z /);
    expect(await readStartTime(pid)).toBe(undefined);
    parent.kill('SIGKILL');
    await over;
  });
});

describe('a run is refused, with a reason and a hint, if its owner is', () => {
  test.each<[string, ProcessIdentity | string, string, string]>([
    ['alive', US, `is driven by process ${US.pid}, which is alive.`, '`raymond stop run-1`'],
    ['alive, and says not since when', { ...US, startTime: null }, 'which is alive.', '`raymond stop run-1`'],
    [
      'on another machine',
      { ...US, bootId: 'x', host: 'far' },
      `by process ${US.pid} on far, which cannot`,
      '--take-over`',
    ],
    [
      'in another container',
      { ...US, namespace: 'pid:[1]' },
      'which cannot be checked from here.',
      '`raymond resume run-1 --take-over`',
    ],
    ['on another machine without boot ids', { ...US, bootId: null, host: 'far' }, 'on far', '--take-over`'],
    ['not to be read', '{"pid":', 'owner.1 cannot be read.', '--take-over`'],
    ['not to be understood', '{"pid":-1}', 'owner.1 cannot be read.', '--take-over`'],
  ])('%s', async (_, facts, message, hint) => {
    const folder = ownedBy(facts);
    const refusal = await refusalOf(() => takeOwnership(folder));
    expect(refusal.message).toContain(message);
    expect(refusal.hint).toContain(hint);
    expect(refusal.exitCode).toBe(64);
    expect(readdirSync(folder)).toStrictEqual(['owner.1']);
  });
});

describe('a takeover', () => {
  test('succeeds from an owner that cannot be seen, which notices it', async () => {
    const folder = temporary();
    const far = await takeOwnership(folder, { facts: { ...US, bootId: 'x', host: 'far' } });
    const near = await takeOwnership(folder, { takeOver: true });
    expect([near.number, far.stillOwner(), near.stillOwner()]).toStrictEqual([2, false, true]);
    await far.release();
    expect((await ownerOf(folder))?.number).toBe(2);
    await near.release();
    expect([await ownerOf(folder), far.stillOwner()]).toStrictEqual([undefined, false]);
  });

  test('succeeds if the record of the owner cannot be read', async () => {
    expect((await takeOwnership(ownedBy('?'), { takeOver: true })).number).toBe(2);
  });

  test('fails if the owner is alive', async () => {
    await refusalOf(() => takeOwnership(ownedBy(US), { takeOver: true }));
  });
});

test('many takers in one process: exactly one gets the run', async () => {
  const folder = ownedBy(NOBODY);
  const tries = await Promise.allSettled(Array.from({ length: 20 }, () => takeOwnership(folder)));
  expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(readdirSync(folder).sort()).toStrictEqual(['owner.2']);
});

test('numbers above nine are sorted as numbers', async () => {
  const folder = temporary();
  for (const number of [2, 9, 10]) writeFileSync(join(folder, `owner.${number}`), JSON.stringify(NOBODY));
  expect((await takeOwnership(folder)).number).toBe(11);
});

test('a read-only folder is named', async () => {
  const folder = ownedBy(NOBODY);
  const refusal = await refusalOf(() => asNobody(() => takeOwnership(folder, { facts: US })));
  expect(refusal.message).toContain(folder);
  expect(refusal.message).toContain('permission was denied');
});

test('ps is used if there is no /proc', async () => {
  expect(await readStartTimeFromPs(process.pid)).toMatch(/^\w{3} \w{3} +\d+ \d\d:\d\d:\d\d \d{4}$/);
  expect(await readStartTimeFromPs(NOBODY.pid)).toBe(null);
});
