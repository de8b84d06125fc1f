import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDatabaseOutput } from '../../src/storage/postgres/output.ts';
import { insertTurnFiles } from '../../src/storage/postgres/turn-rows.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
  fleet.write({ 'hello/START.sh': '#!/bin/bash\necho "<result>hello</result>"\n' });
});

const TURN = { agent: 'main', number: 1, state: 'START.sh' };

/** A run that nobody drives, and whose first turn has said this. */
async function runThatSaid(text: string): Promise<void> {
  await fleet.run('run', 'hello', '--run-id', 'r1', '--detach');
  const folder = join(fleet.folder, 'turn');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'stdout'), text);
  await insertTurnFiles(fleet.database, 'r1', TURN, folder);
}

test('the files of a turn can be read by several at once, and are those of this run, not of an earlier one of its id', async () => {
  const output = createDatabaseOutput(fleet.database);
  const read = async (): Promise<string> => {
    let text = '';
    for await (const { bytes } of output.read('r1', TURN, 'stdout')) text += bytes.toString('utf8');
    return text;
  };
  await runThatSaid('one');
  expect(await Promise.all([read(), read()])).toStrictEqual(['one', 'one']);
  await fleet.run('stop', 'r1');
  expect(await fleet.run('prune', 'r1', '--yes')).toMatchObject({ code: 0 });
  await runThatSaid('two');
  expect(await read()).toBe('two');
});
