import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownerOf, takeOwnership } from '../../src/store/owner.ts';
import { askToStop, stopAsked } from '../../src/store/stop-request.ts';
import { asNobody, refusalOf } from './story.ts';
import { temporaryFolders } from './temp.ts';

const temporary = temporaryFolders();

async function lifeIn(folder: string): Promise<string> {
  return (await ownerOf(folder))?.life ?? '';
}

test('an owner hears that it is to stop, and then that it is to stop now', async () => {
  const folder = temporary();
  const owner = await takeOwnership(folder);
  const life = await lifeIn(folder);
  expect(owner.stopAsked()).toBe(null);
  expect(await askToStop(folder, life, 'soon')).toBe(true);
  expect(owner.stopAsked()).toBe('soon');
  expect(await askToStop(folder, life, 'now')).toBe(true);
  expect(owner.stopAsked()).toBe('now');
  await owner.release();
  expect(readdirSync(folder)).toStrictEqual([]);
});

test('who asks for the same once more is told so, and of many at once one was the first', async () => {
  const folder = temporary();
  await takeOwnership(folder);
  const life = await lifeIn(folder);
  const asked = await Promise.all(Array.from({ length: 9 }, () => askToStop(folder, life, 'soon')));
  expect(asked.filter((isFirst) => isFirst)).toStrictEqual([true]);
  expect(await askToStop(folder, life, 'soon')).toBe(false);
});

test('what a past life was asked stops no later one, though process and number are the same', async () => {
  const folder = temporary();
  const first = await takeOwnership(folder);
  const past = await lifeIn(folder);
  await first.release();
  // It was asked too late: nobody is there any more to hear it.
  await askToStop(folder, past, 'now');
  const second = await takeOwnership(folder);
  expect(second.number).toBe(first.number);
  expect(second.stopAsked()).toBe(null);
  expect(readdirSync(folder)).toStrictEqual(['owner.1']);
  // And later still.
  await askToStop(folder, past, 'now');
  expect(second.stopAsked()).toBe(null);
});

test('an owner that has lost the run leaves alone what the new one was asked', async () => {
  const folder = temporary();
  const facts = { pid: 1, startTime: '1', bootId: 'x', namespace: null, host: 'far' };
  const far = await takeOwnership(folder, { facts });
  const near = await takeOwnership(folder, { takeOver: true });
  await askToStop(folder, await lifeIn(folder), 'soon');
  await far.release();
  expect(near.stopAsked()).toBe('soon');
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
  expect(await ownerOf(folder)).toStrictEqual({ number: 1, state: 'elsewhere', facts, life: null });
});

test('a folder that may not be written is refused by name', async () => {
  const folder = temporary();
  const refusal = await refusalOf(() => asNobody(() => askToStop(folder, 'a1', 'soon')));
  expect(refusal.message).toContain(join(folder, 'stop-soon.a1'));
  expect(refusal.hint).toContain('The run goes on.');
  expect(stopAsked(folder, 'a1')).toBe(null);
});
