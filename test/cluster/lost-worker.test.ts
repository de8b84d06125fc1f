import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findMarkedProcesses } from '../../src/process/marker.ts';
import { PostgresServer } from '../postgres/server.ts';
import { type Command, Fleet, GATE } from './fleet.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(() => server.stop());

/** Short, so that the tests are; each worker must have been there for as long before it judges others. */
const DEADLINE_MS = 2_000;

/** Waits until something is so; the test has a time limit. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await delay(100);
}

/** A fleet with a run whose script waits for a file, so that a test decides when it ends. */
class Gate {
  readonly fleet: Fleet;

  private constructor(fleet: Fleet) {
    this.fleet = fleet;
  }

  static async during(database: PostgresServer, body: (gate: Gate) => Promise<void>): Promise<void> {
    const fleet = await Fleet.open(database);
    try {
      await fleet.database.query(`update raymond.about set worker_deadline = '${DEADLINE_MS} milliseconds'`);
      fleet.write(GATE);
      await body(new Gate(fleet));
    } finally {
      await fleet.close();
    }
  }

  /** Starts the run at the worker `one`, and the worker `two` when its script is under way. */
  async start(...options: readonly string[]): Promise<{
    readonly one: Command;
    readonly two: Command;
    readonly follower: Command;
    readonly following: Command['ended'];
  }> {
    const one = await this.fleet.worker('one');
    const follower = this.fleet.start(['run', 'gate', '--run-id', 'gated', ...options]);
    await until(async () => existsSync(join(this.fleet.folder, 'trace')));
    return { one, two: await this.fleet.worker('two'), follower, following: follower.ended };
  }

  open(): void {
    writeFileSync(join(this.fleet.folder, 'open'), '');
  }

  /** How many processes of turns of the run there are. */
  async countProcesses(): Promise<number> {
    const [row] = await this.fleet.database.query<{ mark: string }>('select mark from raymond.runs');
    return (await findMarkedProcesses(`gated/${row?.mark}/`)).length;
  }

  get trace(): string {
    return readFileSync(join(this.fleet.folder, 'trace'), 'utf8');
  }

  /** Waits until the status of the run says this. */
  async isSaid(text: string): Promise<void> {
    await until(async () => (await this.fleet.run('status', 'gated')).out.includes(text));
  }
}

describe.concurrent('a worker that is gone', { timeout: 150_000 }, () => {
  test('loses its runs to another one; by default their turns wait for it, and are not run again', () =>
    Gate.during(server, async (gate) => {
      const { one, two, follower, following } = await gate.start();
      await one.kill('SIGKILL');
      await two.says('gated is given to two: its worker one is gone');
      await follower.says('waits for the worker one, which is gone and has main');
      await gate.isSaid('It waits for the worker one, which is gone and has main.');
      const { out } = await gate.fleet.run('logs', 'gated');
      expect(out).toContain('the worker one is gone: two drives the run from now on');
      gate.open();
      await gate.fleet.worker('one');
      expect(await following).toMatchObject({ code: 0, out: 'through\n' });
      expect(gate.trace).toBe('start\nafter\n');
    }));

  test('and only stood still can save nothing more, and takes the turns that are still its own', () =>
    Gate.during(server, async (gate) => {
      const { one, two, following } = await gate.start();
      one.child.kill('SIGSTOP');
      await two.says('gated is given to two');
      gate.open();
      one.child.kill('SIGCONT');
      expect(await following).toMatchObject({ code: 0, out: 'through\n' });
      expect(gate.trace).toBe('start\nafter\n');
      await one.says('gated is driven by another worker now');
      const rows = await gate.fleet.database.query<{ epoch: number; seq: number }>(
        `select epoch, seq from raymond.journal where run = 'gated' order by seq`,
      );
      const epochs = rows.map(({ epoch }) => epoch);
      expect(rows.map(({ seq }) => seq)).toStrictEqual(rows.map((_, index) => index));
      expect(epochs).toStrictEqual(epochs.toSorted((a, b) => a - b));
    }));

  test('is gone also if the clock of the database was set back since its last beat', () =>
    Gate.during(server, async (gate) => {
      const { one, two, following } = await gate.start();
      await one.kill('SIGKILL');
      await gate.fleet.database.query(
        `update raymond.nodes set heartbeat_at = heartbeat_at + interval '1 day', steady_since = steady_since + interval '1 day'`,
      );
      await two.says('gated is given to two: its worker one is gone');
      gate.open();
      await gate.fleet.worker('one');
      expect(await following).toMatchObject({ code: 0, out: 'through\n' });
    }));

  test('is not meant if all beats are of the future: who judges waits for new ones', () =>
    Gate.during(server, async (gate) => {
      const { one, two, following } = await gate.start();
      await gate.fleet.database.query(
        `update raymond.nodes set heartbeat_at = heartbeat_at + interval '1 day', steady_since = steady_since - interval '3 days'`,
      );
      const isOfNow =
        "select name from raymond.nodes where heartbeat_at <= now() and steady_since > now() - interval '1 day'";
      await until(async () => (await gate.fleet.database.query(isOfNow)).length === 2);
      gate.open();
      expect(await following).toMatchObject({ code: 0, out: 'through\n' });
      expect(`${one.err}${two.err}`).not.toContain('is given to');
    }));

  test('and has ended as it should keeps its runs for a while, and then loses them', () =>
    Gate.during(server, async (gate) => {
      const { one, two, following } = await gate.start('--when-lost', 'rehome');
      one.child.kill('SIGTERM');
      await one.says('ends when the running turns have ended');
      gate.open();
      expect((await one.ended).code).toBe(0);
      expect(await gate.fleet.database.query('select driver from raymond.runs')).toStrictEqual([{ driver: 'one' }]);
      await two.says('gated is given to two: its worker one is gone');
      const ended = await following;
      expect(ended).toMatchObject({ code: 0, out: 'through\n' });
      expect(ended.err).toContain('the worker one is gone: continues at two');
      expect(gate.trace).toBe('start\nafter\n');
    }));

  test('with its script leaves the agent paused at another one if it is rehomed, and changes nothing when it comes back', () =>
    Gate.during(server, async (gate) => {
      const { one, following } = await gate.start('--when-lost', 'rehome');
      await one.kill('SIGKILL');
      const paused = await following;
      expect(paused.code).toBe(3);
      expect(paused.err).toContain('the worker one is gone, and nobody knows how far the script came');
      expect(await gate.countProcesses()).toBeGreaterThan(0);
      await gate.fleet.worker('one');
      expect(await gate.countProcesses()).toBe(0);
      gate.open();
      expect(await gate.fleet.run('resume', 'gated', '--retry')).toMatchObject({ code: 0, out: 'through\n' });
      expect(gate.trace).toBe('start\nstart\nafter\n');
    }));

  test('and only stood still, with a turn of a run that another drives, ends that when it continues: its agent has moved', () =>
    Gate.during(server, async (gate) => {
      const following = gate.fleet.run(
        'run',
        'gate',
        '--run-id',
        'gated',
        '--when-lost',
        'rehome',
        '--label',
        'drives=yes',
      );
      await gate.fleet.setHome('gated', 'one');
      const [one] = await Promise.all([gate.fleet.worker('one'), gate.fleet.worker('two', '--label', 'drives=yes')]);
      await until(async () => existsSync(join(gate.fleet.folder, 'trace')));
      one.child.kill('SIGSTOP');
      const paused = await following;
      expect(paused.err).toContain('the worker one is gone: continues at two');
      expect(paused.code).toBe(3);
      expect(await gate.countProcesses()).toBeGreaterThan(0);
      one.child.kill('SIGCONT');
      await until(async () => (await gate.countProcesses()) === 0);
      gate.open();
      expect(await gate.fleet.run('resume', 'gated', '--retry')).toMatchObject({ code: 0, out: 'through\n' });
      expect(gate.trace).toBe('start\nstart\nafter\n');
    }));

  test('lets the agent fail if the run says so', () =>
    Gate.during(server, async (gate) => {
      const { one, following } = await gate.start('--when-lost', 'fail');
      await one.kill('SIGKILL');
      const failed = await following;
      expect(failed.code).toBe(1);
      expect(failed.err).toContain('START.sh: the worker one is gone, with its conversation and its folder');
      expect(await gate.countProcesses()).toBeGreaterThan(0);
      await gate.fleet.worker('one');
      expect(await gate.countProcesses()).toBe(0);
      expect(gate.trace).toBe('start\n');
    }));

  test('is not meant if all are cut off at once', async () => {
    const other = await PostgresServer.start();
    try {
      await Gate.during(other, async (gate) => {
        const { one, two, following } = await gate.start();
        const mayJudge = 'select name from raymond.nodes, raymond.about where steady_since < now() - worker_deadline';
        await until(async () => (await gate.fleet.database.query(mayJudge)).length === 2);
        await other.kill();
        // Nobody can be asked meanwhile.
        await delay(1.5 * DEADLINE_MS);
        await other.restart();
        const heardOf = 'select name from raymond.nodes where heartbeat_at > pg_postmaster_start_time()';
        await until(async () => (await gate.fleet.database.query(heardOf).catch(() => [])).length === 2);
        gate.open();
        expect(await following).toMatchObject({ code: 0, out: 'through\n' });
        expect(`${one.err}${two.err}`).not.toContain('is given to');
        expect(gate.trace).toBe('start\nafter\n');
      });
    } finally {
      await other.stop();
    }
  });
});
