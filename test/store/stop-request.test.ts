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

test('an owner hears that it is to stop, and then that it is to stop now', async () => {
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

test('who asks for the same once more is told so, and of many at once one was the first', async () => {
  const folder = temporary();
  await takeOwnership(folder);
  const life = await lifeIn(folder);
  const asked = await Promise.all(Array.from({ length: 9 }, () => requestStop(folder, life, 'soon')));
  expect(asked.filter((isFirst) => isFirst)).toStrictEqual([true]);
  expect(await requestStop(folder, life, 'soon')).toBe(false);
});

test('what a past life was asked stops no later one, though process and number are the same', async () => {
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

test('an owner that has lost the run leaves alone what the new one was asked', async () => {
  const folder = temporary();
  const facts = { pid: 1, startTime: '1', bootId: 'x', namespace: null, host: 'far' };
  const far = await takeOwnership(folder, { facts });
  const near = await takeOwnership(folder, { takeOver: true });
  await requestStop(folder, await lifeIn(folder), 'soon');
  await far.release();
  expect(near.requestedStop()).toBe('soon');
});

test('other files in the folder are no requests', async () => {
  const folder = temporary({ 'journal.jsonl': 'x', 'stop-soon': 'x', 'stop-now.README': 'x' });
  const owner = await takeOwnership(folder);
  await owner.release();
  expect(readdirSync(folder).sort()).toStrictEqual(['journal.jsonl', 'stop-now.README', 'stop-soon']);
});

test('an owner of before lives had names is known, but cannot be asked', async () => {
  const folder = temporary();
  const facts = { pid: 1, startTime: '1', bootId: 'x', namespace: null, host: 'far' };
  writeFileSync(join(folder, 'owner.1'), JSON.stringify(facts));
  expect(await ownerOf(folder)).toStrictEqual({ number: 1, state: 'elsewhere', facts, ownershipId: null });
});

test('a folder that may not be written is refused by name', async () => {
  const folder = temporary();
  const refusal = await refusalOf(() => asNobody(() => requestStop(folder, 'a1', 'soon')));
  expect(refusal.message).toContain(join(folder, 'stop-soon.a1'));
  expect(refusal.hint).toContain('The run goes on.');
  expect(readStopRequest(folder, 'a1')).toBe(null);
});
