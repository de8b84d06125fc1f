import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { layoutOf } from '../../src/disk/layout.ts';
import { createTurnFolder, removeTurnFolder } from '../../src/disk/turn-folder.ts';
import { refusalOf } from '../storage/run-history.ts';
import { temporaryFolders } from '../storage/temp.ts';

const temporary = temporaryFolders();
const TURN = { agent: 'main', number: 1, state: 'START.md' };

test("a turn's folder is complete and private, with any missing parents", async () => {
  const layout = layoutOf(join(temporary(), '.raymond'));
  const folder = await createTurnFolder(layout, 'r', TURN, { prompt: 'Do it: é', raw: new Uint8Array([0, 255]) });
  expect(folder).toBe(layout.turnFolder('r', TURN));
  expect(readFileSync(join(folder, 'prompt'), 'utf8')).toBe('Do it: é');
  expect([...readFileSync(join(folder, 'raw'))]).toStrictEqual([0, 255]);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, 'prompt')).mode & 0o777).toBe(0o600);
});

test('a prepared folder of an unrecorded turn is created again', async () => {
  const layout = layoutOf(temporary());
  await createTurnFolder(layout, 'r', TURN, { prompt: 'old', extra: '' });
  const folder = await createTurnFolder(layout, 'r', TURN, { prompt: 'new' });
  expect(readdirSync(folder)).toStrictEqual(['prompt']);
  expect(readFileSync(join(folder, 'prompt'), 'utf8')).toBe('new');
});

test('the folder of a started turn is never changed', async () => {
  const layout = layoutOf(temporary());
  const folder = await createTurnFolder(layout, 'r', TURN, { prompt: 'old' });
  writeFileSync(join(folder, 'started'), '');
  await expect(createTurnFolder(layout, 'r', TURN, { prompt: 'new' })).rejects.toThrow('has started');
  expect(readFileSync(join(folder, 'prompt'), 'utf8')).toBe('old');
});

test('a dropped turn leaves nothing, and may be dropped twice', async () => {
  const layout = layoutOf(temporary());
  const folder = await createTurnFolder(layout, 'r', TURN, { prompt: 'x' });
  await removeTurnFolder(layout, 'r', TURN);
  await removeTurnFolder(layout, 'r', TURN);
  expect(existsSync(folder)).toBe(false);
});

test('a folder that cannot be written is named', async () => {
  const layout = layoutOf(temporary({ 'runs/r/turns': 'a file' }));
  const refusal = await refusalOf(() => createTurnFolder(layout, 'r', TURN, {}));
  expect(refusal.message).toContain('there is a file where a folder should be');
});
