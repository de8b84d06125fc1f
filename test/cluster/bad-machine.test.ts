import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Command, Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
  fleet.write({
    'wf/START.sh': '#!/bin/bash\necho start >> trace\necho "<goto>END.sh</goto>"\n',
    'wf/END.sh': '#!/bin/bash\necho end >> trace\necho "<result>done</result>"\n',
  });
});

/** Starts a worker on a machine that this code changes before anything else. */
function startWorkerAfter(code: string): Command {
  fleet.write({ 'machine.cjs': code });
  const folder = join(fleet.folder, 'worker');
  return fleet.start(['worker', '--name', 'one', '--folder', folder], {
    NODE_OPTIONS: `--require=${join(fleet.folder, 'machine.cjs')}`,
  });
}

describe('a worker', () => {
  test.each([
    ['behind', -2 * 3600_000],
    ['ahead of', 2 * 3600_000],
  ])('whose clock is %s that of the database says so, and goes by that of the database', async (word, byMs) => {
    const worker = startWorkerAfter(`const now = Date.now; Date.now = () => now() + ${byMs};`);
    await worker.says('is ready');
    expect(worker.err).toMatch(new RegExp(`clock of this machine is (2:00:00|1:59:5\\d) ${word} that of the database`));
    expect(await fleet.run('run', 'wf', '--run-id', 'r1')).toMatchObject({ code: 0, out: 'done\n' });
    const events = (await fleet.run('logs', 'r1', '--json')).out.trim().split('\n');
    const times = events.map((line) => Math.abs(Date.parse(JSON.parse(line).at) - Date.now()));
    expect(Math.max(...times)).toBeLessThan(600_000);
  });

  test('whose disk is full tries its runs again, and status says why; nothing is done twice', async () => {
    const full = join(fleet.folder, 'full');
    writeFileSync(full, '');
    const worker = startWorkerAfter(`
      const fs = require('node:fs');
      const refuse = (owner, name) => {
        const real = owner[name];
        owner[name] = (path, ...rest) => {
          if (fs.existsSync(${JSON.stringify(full)}) && String(path).includes('/workflows'))
            throw Object.assign(new Error("ENOSPC: no space left on device, " + name + " '" + path + "'"), { code: 'ENOSPC' });
          return real.call(owner, path, ...rest);
        };
      };
      for (const name of ['mkdir', 'writeFile', 'open', 'rename']) refuse(fs.promises, name);
    `);
    await worker.says('is ready');
    const following = fleet.run('run', 'wf', '--run-id', 'r1');
    await worker.says('r1 could not continue, and is tried again in 1 s: ENOSPC');
    const status = await fleet.run('status', 'r1');
    expect(status.out).toContain('its worker: ENOSPC: no space left on device');
    rmSync(full);
    expect(await following).toMatchObject({ code: 0, out: 'done\n' });
    expect((await fleet.run('status', 'r1')).out).not.toContain('ENOSPC');
    expect(readFileSync(join(fleet.folder, 'trace'), 'utf8')).toBe('start\nend\n');
  });
});
