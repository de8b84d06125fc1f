import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDatabaseStorage } from '../../src/cluster/database-storage.ts';
import { startServer } from '../../src/server/serve.ts';
import { PINNED } from '../claude-code/pinned.ts';
import { startMessagesApi } from '../messages-api/server.ts';
import type { Fleet } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;
useFleet('each', (opened) => {
  fleet = opened;
});

/** Says something, then waits for the file `go-N`, in vain once the test has removed its folder. */
const step = (number: number): string =>
  `echo "line ${number}"; echo "trouble ${number}" >&2\nuntil [ -e go-${number} ] || [ ! -e talk ]; do sleep 0.05; done\n`;

const TALK = {
  'talk/START.sh': `#!/bin/bash\necho "<print>shown at once</print>"\n${step(1)}${step(2)}echo last\necho "<goto>END.sh</goto>"\n`,
  'talk/END.sh': '#!/bin/bash\necho "<result>over</result>"\n',
};

const goOn = (number: number): void => writeFileSync(join(fleet.folder, `go-${number}`), '');

const count = (text: string, part: string): number => text.split(part).length - 1;

const says = (read: () => string, text: string): Promise<void> =>
  expect.poll(read, { timeout: 30_000, interval: 50 }).toContain(text);

const countPieces = async (): Promise<number> =>
  (await fleet.database.query<{ count: number }>('select count(*)::integer from raymond.output'))[0]?.count ?? -1;

describe('what a script says', { timeout: 100_000 }, () => {
  test('is seen while it runs on another worker, also by those who come later, and continues after kill -9 of that worker', async () => {
    fleet.write(TALK);
    const run = fleet.start(['run', 'talk', '--run-id', 'r1', '--verbose', '--label', 'drives=yes']);
    await fleet.setHome('r1', 'two');
    const [, home] = await Promise.all([fleet.worker('one', '--label', 'drives=yes'), fleet.worker('two')]);
    await says(() => run.err, 'line 1');
    await says(() => run.err, 'trouble 1');
    expect(run.err).toContain('shown at once');
    const logs = fleet.start(['logs', 'r1', '--follow']);
    const raw = fleet.start(['logs', 'r1', '--follow', '--raw']);
    const resumed = fleet.start(['resume', 'r1', '--verbose']);
    await Promise.all([logs, raw, resumed].map((each) => says(() => each.out + each.err, 'trouble 1')));
    await home.kill('SIGKILL');
    await fleet.worker('two');
    goOn(1);
    const followers = [run, logs, raw, resumed];
    await Promise.all(followers.map((each) => says(() => each.out + each.err, 'trouble 2')));
    expect(await countPieces()).toBeGreaterThan(0);
    goOn(2);
    const ended = await Promise.all(followers.map((each) => each.ended));
    expect(ended.map(({ code }) => code)).toStrictEqual([0, 0, 0, 0]);
    for (const { out, err } of ended)
      for (const line of ['line 1', 'trouble 1', 'line 2', 'trouble 2', 'last', 'shown at once'])
        expect.soft([line, count(out + err, line)]).toStrictEqual([line, 1]);
    await expect.poll(countPieces, { timeout: 20_000 }).toBe(0);
  });

  test('is seen with --no-debug, too, and does not stay', async () => {
    fleet.write(TALK);
    await fleet.worker('one');
    const run = fleet.start(['run', 'talk', '--run-id', 'r1', '--verbose', '--no-debug']);
    await says(() => run.err, 'line 1');
    goOn(1);
    goOn(2);
    const { err } = await run.ended;
    for (const line of ['line 1', 'trouble 2', 'last']) expect.soft([line, count(err, line)]).toStrictEqual([line, 1]);
    await expect.poll(countPieces, { timeout: 20_000 }).toBe(0);
    expect(await fleet.database.query(`select * from raymond.blobs where key like '%/turn/%'`)).toStrictEqual([]);
  });

  test('is sent to nobody unless somebody looks', async () => {
    fleet.write(TALK);
    await fleet.worker('one');
    expect(await fleet.run('run', 'talk', '--run-id', 'r1', '--detach')).toMatchObject({ code: 0 });
    const turns = () => fleet.run('logs', 'r1', '--json').then(({ out }) => out);
    await expect.poll(turns, { timeout: 20_000 }).toContain('turn_started');
    expect(await fleet.database.query('select * from raymond.watchers')).toStrictEqual([]);
    const { out } = await fleet.run('logs', 'r1');
    expect(out).toContain('line 1');
    expect(out).not.toContain('line 2');
    goOn(1);
    goOn(2);
    await expect.poll(turns, { timeout: 20_000 }).toContain('run_ended');
    expect((await fleet.run('logs', 'r1')).out).toContain('line 2');
  });

  test('comes with the event stream of the page', async () => {
    fleet.write(TALK);
    await fleet.worker('one');
    const database = await openDatabaseStorage(fleet.address);
    const server = await startServer({
      host: '127.0.0.1',
      port: 0,
      roots: [fleet.folder],
      cwd: fleet.folder,
      env: process.env,
      command: [process.execPath, resolve('dist/raymond.js')],
      version: '1',
      report: () => {},
      openFolder: () => database,
      shared: database,
    });
    const leaving = new AbortController();
    const request = (path: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${server.port}/api${path}`, {
        headers: { authorization: `Bearer ${server.token}` },
        signal: leaving.signal,
      });
    try {
      await fleet.run('run', 'talk', '--run-id', 'r1', '--detach');
      const { runs } = (await (await request('/runs')).json()) as { runs: { project: string }[] };
      const path = `/runs/${runs[0]?.project}/r1`;
      const stream = await request(`${path}/events`);
      let text = '';
      const reading = (async () => {
        for await (const chunk of stream.body ?? []) text += Buffer.from(chunk).toString('utf8');
      })().catch(() => {});
      await says(() => text, 'line 1');
      expect(await (await request(`${path}/turns/main/1`)).json()).toMatchObject({
        answer: { text: expect.stringContaining('line 1') },
      });
      goOn(1);
      await says(() => text, 'trouble 2');
      goOn(2);
      await says(() => text, 'run_ended');
      for (const line of ['line 1', 'line 2']) expect.soft([line, count(text, line)]).toStrictEqual([line, 1]);
      leaving.abort();
      await reading;
    } finally {
      leaving.abort();
      await server.close();
      await database.storage.close();
    }
  });
});

const newest = PINNED.at(-1);
const why = newest?.isInstalled ? '' : ' (skipped: node test/claude-code/install.mjs installs it)';

describe.skipIf(!newest?.isInstalled)(`what Claude Code does${why}`, { timeout: 100_000 }, () => {
  test('is seen while it runs on another worker: its tools, what it says, and an API that it asks again', async () => {
    const api = await startMessagesApi();
    try {
      const wait = 'touch waits; until [ -e go ] || [ ! -e talk ]; do sleep 0.05; done';
      fleet.write({
        'talk/START.md': `begin «fail 529 1» «say Let me see.» «+tool Bash {"command":"${wait}"}» «say <result>over</result>»`,
      });
      const run = fleet.start([
        'run',
        'talk',
        '--run-id',
        'r1',
        '--verbose',
        '--claude',
        newest?.path ?? '',
        '--label',
        'drives=yes',
      ]);
      await fleet.setHome('r1', 'two');
      await fleet.claudeWorker(api, 'one', '--label', 'drives=yes');
      await fleet.claudeWorker(api, 'two');
      await says(() => run.err, 'retrying');
      await says(() => run.err, 'Bash');
      expect(run.err).toContain('Let me see.');
      const logs = fleet.start(['logs', 'r1', '--follow']);
      await says(() => logs.out, 'Bash');
      expect(logs.out).toContain('begin «fail 529 1»');
      writeFileSync(join(fleet.folder, 'go'), '');
      expect(await run.ended).toMatchObject({ code: 0, out: 'over\n' });
      await logs.ended;
      // In the log, the prompt has it, too.
      expect([count(run.err, 'Let me see.'), count(logs.out, 'Let me see.')]).toStrictEqual([1, 2]);
    } finally {
      await api.close();
    }
  });
});
