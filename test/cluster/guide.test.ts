import { expect, test } from 'vitest';
import { openPage } from '../docs/pages.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('all', (opened) => {
  fleet = opened;
});

// The packages are here already, and the database of the test has an address of its own.
const isDone = (line: string): boolean => /^(npm install|export )/.test(line);

test('every block of fleet.md works, in order; with the rights that it lists a node works too', {
  timeout: 60_000,
}, async () => {
  const { blocks } = openPage('docs/fleet.md');
  expect(blocks.map(({ kind }) => kind)).toStrictEqual(['sh', 'sh', 'bash', 'sh', 'sh', 'sql']);
  let role = {};
  for (const { kind, name, text } of blocks) {
    if (kind === 'bash') fleet.write({ [name]: text });
    if (kind === 'sql') {
      await fleet.database.query(text);
      role = { RAYMOND_DATABASE: fleet.address.replace(/\/\/.*@/, '//raymond_worker:secret@') };
    }
    if (kind !== 'sh') continue;
    for (const line of text
      .trim()
      .split('\n')
      .filter((each) => !isDone(each))) {
      const [program, ...args] = line.split(' ');
      expect(program).toBe('raymond');
      const command = fleet.start(args, { XDG_DATA_HOME: fleet.folder });
      if (args[0] === 'node') await command.says('is ready');
      else expect(await command.ended).toMatchObject({ code: 0 });
    }
  }
  const listed = await fleet.run('list', '--json');
  expect(JSON.parse(listed.out).runs).toMatchObject([{ status: 'completed' }]);

  const node = fleet.start(['node', '--name', 'limited', '--label', 'few=rights'], {
    ...role,
    XDG_DATA_HOME: fleet.folder,
  });
  await node.says('is ready');
  const ended = await fleet.start(['run', 'hello', '--label', 'few=rights'], role).ended;
  expect(ended).toMatchObject({ code: 0 });
  expect(ended.out).toContain('Hello from ');
  for (const args of [['database', 'init'], ['costs'], ['prune', '--yes']])
    expect(await fleet.start(args, role).ended).toMatchObject({ code: 0 });
  expect(await fleet.database.query('select 1 from raymond_dbos.workflow_status')).toStrictEqual([]);
});
