import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newCliProject } from './cli-project.ts';

test.each([
  ['before the command', ['-C', 'project', 'status', '--json']],
  ['after it', ['status', '--json', '-C', 'project']],
  ['step by step', ['-C', 'project', 'status', '-C', 'wf', '-C', '..', '--json']],
])('-C, %s, makes a command work as if started in that folder', async (_, argv) => {
  const { cwd, raymond } = newCliProject();
  mkdirSync(join(cwd, 'project', 'wf'), { recursive: true });
  writeFileSync(join(cwd, 'project', 'wf', 'START.sh'), 'echo "<result>$PWD</result>"');
  const ran = await raymond('-C', 'project', 'wf', '--quiet', '--run-id', 'r1');
  expect(ran).toStrictEqual({ code: 0, out: `${join(cwd, 'project')}\n`, err: '' });
  expect(JSON.parse((await raymond(...argv)).out)).toMatchObject({ run_id: 'r1' });
  expect((await raymond('list')).out).toContain('There are no runs here yet');
});

test('every command has -C in its help', async () => {
  const { raymond } = newCliProject();
  expect((await raymond('stop', '--help')).out).toContain('-C <folder>');
});
