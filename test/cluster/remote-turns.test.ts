import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createDatabaseInbox } from '../../src/storage/postgres/inbox.ts';
import { stopIdOf } from '../../src/storage/requests.ts';
import { type Command, type Ended, type Fleet, WAIT_FOR_OPEN } from './fleet.ts';
import { useFleet } from './use-fleet.ts';

let fleet: Fleet;

useFleet('each', (opened) => {
  fleet = opened;
});

/** Its second script waits for a file, so that a test decides when it ends. Each says on which worker it runs. */
const GATE = {
  'gate/START.sh': '#!/bin/bash\necho "start $WORKER" >> trace\necho "<goto>GATE.sh</goto>"\n',
  'gate/GATE.sh': `#!/bin/bash\necho "gate $WORKER" >> trace\n${WAIT_FOR_OPEN}\necho "<goto>AFTER.sh</goto>"\n`,
  'gate/AFTER.sh': '#!/bin/bash\necho "after $WORKER" >> trace\necho "<result>through</result>"\n',
};

const file = (name: string): string => join(fleet.folder, name);
const trace = (): string => (existsSync(file('trace')) ? readFileSync(file('trace'), 'utf8') : '');
const openGate = (): void => writeFileSync(file('open'), '');
const traced = (text: string): Promise<void> => expect.poll(trace, { timeout: 20_000 }).toContain(text);

/** The worker `one` drives the runs; `two` is the home of their agents. */
const startDriver = (): Promise<Command> => startWorker('one', '--label', 'drives=yes');
const startHome = (): Promise<Command> => startWorker('two');

async function startWorker(name: string, ...args: readonly string[]): Promise<Command> {
  const folder = join(fleet.folder, 'workers', name);
  const worker = fleet.start(['worker', '--name', name, '--folder', folder, ...args], {
    WORKER: name,
    RAYMOND_REPLAY: 'fast',
  });
  await worker.says('is ready');
  return worker;
}

/** Starts a run that `one` will drive and whose agent is at home with `two`: nobody drives it yet. */
async function startRun(...args: readonly string[]): Promise<{ readonly ended: Promise<Ended> }> {
  const ended = fleet.run('run', ...args, '--run-id', 'far', '--label', 'drives=yes');
  await fleet.setHome('far', 'two');
  return { ended };
}

const countRows = async (): Promise<number> =>
  (await fleet.database.query('select * from raymond.remote_turns')).length;

describe('turns of an agent that is at home elsewhere', { timeout: 90_000 }, () => {
  test('are taken there, and once, whoever of both workers is killed meanwhile', async () => {
    fleet.write(GATE);
    const { ended } = await startRun('gate');
    const [driver, home] = await Promise.all([startDriver(), startHome()]);
    await traced('gate two');
    await home.kill('SIGKILL');
    const secondHome = await startHome();
    await driver.kill('SIGKILL');
    openGate();
    await expect
      .poll(() => fleet.database.query(`select 1 from raymond.remote_turns where outcome is not null`), {
        timeout: 20_000,
      })
      .toHaveLength(1);
    await startDriver();
    expect(await ended).toMatchObject({ code: 0, out: 'through\n' });
    expect(trace()).toBe('start two\ngate two\nafter two\n');
    await expect.poll(countRows).toBe(0);
    const status = JSON.parse((await fleet.run('status', 'far', '--json')).out);
    expect(status.agents).toMatchObject([{ id: 'main', home: 'two', turns: 3 }]);
    expect((await fleet.run('logs', 'far', '--raw')).out).toContain('<result>through</result>');
    expect(secondHome.err).not.toContain('could not');
  });

  test('end before a worker does that is told to; who drives the run does not wait for them', async () => {
    fleet.write(GATE);
    const { ended } = await startRun('gate');
    const [driver, home] = await Promise.all([startDriver(), startHome()]);
    await traced('gate two');
    expect((await driver.kill('SIGTERM')).code).toBe(0);
    home.child.kill('SIGTERM');
    await home.says('ends when the running turns have ended');
    openGate();
    expect((await home.ended).code).toBe(0);
    await startDriver();
    await expect.poll(countRows, { timeout: 20_000 }).toBe(1);
    await startHome();
    expect(await ended).toMatchObject({ code: 0, out: 'through\n' });
    expect(trace()).toBe('start two\ngate two\nafter two\n');
  });

  test('are ended by a stop at once, and taken again by a resume', async () => {
    fleet.write(GATE);
    const { ended } = await startRun('gate');
    await Promise.all([startDriver(), startHome()]);
    await traced('gate two');
    expect(await fleet.run('stop', 'far', '--now')).toMatchObject({ code: 0 });
    expect((await ended).err).toContain('the script was ended because the run was stopped');
    openGate();
    expect(await fleet.run('resume', 'far', '--retry')).toMatchObject({ code: 0, out: 'through\n' });
    expect(trace()).toBe('start two\ngate two\ngate two\nafter two\n');
  });

  test('stay with their worker if it is gone and the run is stopped, although the driver is killed before that is saved', async () => {
    fleet.write(GATE);
    const { ended } = await startRun('gate');
    const driver = await startDriver();
    await expect.poll(countRows, { timeout: 20_000 }).toBe(1);
    await driver.kill('SIGKILL');
    await fleet.database.query('update raymond.remote_turns set withdrawn = true');
    const stop = { kind: 'stop', id: stopIdOf('now', '1'), by: 'b', at: 1, mode: 'now', lease: '1' } as const;
    expect(await createDatabaseInbox(fleet.database).put('far', stop)).toBe(true);
    await startDriver();
    expect((await ended).err).toContain('the run was stopped while its worker two was gone');
    const status = JSON.parse((await fleet.run('status', 'far', '--json')).out);
    expect(status).toMatchObject({ agents: [{ id: 'main', home: 'two', status: 'paused' }] });
  });

  test('are ended by a join that needs them no more; what prompts cost is entered once', async () => {
    fleet.write({
      'race/START.md': 'Begin.\n',
      'race/FAST.md': 'Be fast.\n',
      'race/SLOW.sh':
        '#!/bin/bash\necho "slow $WORKER" >> trace\ntrap "echo ended >> trace; exit 1" TERM\nsleep 60 & wait\n',
      'race/END.sh': '#!/bin/bash\necho "end $WORKER" >> trace\necho "<result>joined</result>"\n',
      'answers.yaml': `answers:
  START.md:
    text: "<fork>FAST.md</fork><fork>FAST.md</fork><fork>SLOW.sh</fork><join wait=\\"2\\" cancel=\\"true\\">END.sh</join>"
    cost: 0.01
  FAST.md:
    text: "<result>fast</result>"
    cost: 0.02
`,
    });
    const { ended } = await startRun('race', '--agent', 'replay:answers.yaml');
    await Promise.all([startDriver(), startWorker('two', '--slots', '1')]);
    expect(await ended).toMatchObject({ code: 0 });
    expect(trace().split('\n').sort().join(' ')).toBe(' end two ended slow two');
    const status = JSON.parse((await fleet.run('status', 'far', '--json')).out);
    expect(status).toMatchObject({ status: 'completed', cost_usd: 0.05 });
    expect(status.agents.map(({ home }: { readonly home: string }) => home)).toStrictEqual(Array(4).fill('two'));
  });

  test('wait while their worker cannot take them; status says why, and they continue as soon as it can', async () => {
    // As a full disk would: the workflow cannot be unpacked there.
    fleet.write({ ...GATE, open: '', 'workers/two/.raymond/workflows': '' });
    const { ended } = await startRun('gate');
    const [, home] = await Promise.all([startDriver(), startHome()]);
    await home.says('turn 1 of main in far could not be taken');
    const status = async (): Promise<string> => (await fleet.run('status', 'far')).out;
    await expect.poll(status, { timeout: 20_000 }).toContain('the worker two, which cannot take a turn: ');
    unlinkSync(file('workers/two/.raymond/workflows'));
    expect(await ended).toMatchObject({ code: 0, out: 'through\n' });
    expect(trace()).toBe('start two\ngate two\nafter two\n');
    expect(await status()).not.toContain('cannot take a turn');
  });
});
