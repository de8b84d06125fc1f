import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownerOf, takeOwnership } from '../../src/store/owner.ts';
import { readStopRequest, requestStop } from '../../src/store/stop-request.ts';
import { asNobody, refusalOf } from './run-history.ts';
import { temporaryFolders } from './temp.ts';

const temporary = temporaryFolders();

async function lifeIn(folder: string): Promise<string> {
  return (await ownerOf(folder))?.ownershipId ?? '';
}

test('an owner gets the request to stop, and then the request to stop now', async () => {
  const folder = temporary();
  const owner = await takeOwnership(folder);
  const life = await lifeIn(folder);
  expect(owner.requestedStop()).toBe(null);
  expect(await requestStop(folder, life, 'soon')).toBe(true);
  expect(owner.requestedStop()).toBe('soon');
  expect(await requestStop(folder, life, 'now')).toBe(true);
  expect(owner.requestedStop()).toBe('now');
  await owner.release();
  expect(readdirSync(folder)).toStrictEqual([]);
});

test('a repeated request is reported as such, and of many at once one is the first', async () => {
  const folder = temporary();
  await takeOwnership(folder);
  const life = await lifeIn(folder);
  const asked = await Promise.all(Array.from({ length: 9 }, () => requestStop(folder, life, 'soon')));
  expect(asked.filter((isFirst) => isFirst)).toStrictEqual([true]);
  expect(await requestStop(folder, life, 'soon')).toBe(false);
});

test('a request to an earlier ownership stops no later one, even with the same process and number', async () => {
  const folder = temporary();
  const first = await takeOwnership(folder);
  const past = await lifeIn(folder);
  await first.release();
  // It was asked too late: nobody is there any more to hear it.
  await requestStop(folder, past, 'now');
  const second = await takeOwnership(folder);
  expect(second.number).toBe(first.number);
  expect(second.requestedStop()).toBe(null);
  expect(readdirSync(folder)).toStrictEqual(['owner.1']);
  // And later still.
  await requestStop(folder, past, 'now');
  expect(second.requestedStop()).toBe(null);
});

test('an owner that has lost the run ignores requests to the new one', async () => {
  const folder = temporary();
  const facts = { pid: 1, startTime: '1', bootId: 'x', namespace: null, host: 'far' };
  const far = await takeOwnership(folder, { facts });
  const near = await takeOwnership(folder, { takeOver: true });
  await requestStop(folder, await lifeIn(folder), 'soon');
  await far.release();
  expect(near.requestedStop()).toBe('soon');
});

test('other files in the folder are not requests', async () => {
  const folder = temporary({ 'journal.jsonl': 'x', 'stop-soon': 'x', 'stop-now.README': 'x' });
  const owner = await takeOwnership(folder);
  await owner.release();
  expect(readdirSync(folder).sort()).toStrictEqual(['journal.jsonl', 'stop-now.README', 'stop-soon']);
});

test('an owner record without an ownership id is read, but cannot be asked', async () => {
  const folder = temporary();
  const facts = { pid: 1, startTime: '1', bootId: 'x', namespace: null, host: 'far' };
  writeFileSync(join(folder, 'owner.1'), JSON.stringify(facts));
  expect(await ownerOf(folder)).toStrictEqual({ number: 1, state: 'elsewhere', facts, ownershipId: null });
});

test('a read-only folder is named', async () => {
  const folder = temporary();
  const refusal = await refusalOf(() => asNobody(() => requestStop(folder, 'a1', 'soon')));
  expect(refusal.message).toContain(join(folder, 'stop-soon.a1'));
  expect(refusal.hint).toContain('The run goes on.');
  expect(readStopRequest(folder, 'a1')).toBe(null);
});
