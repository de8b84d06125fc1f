import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PINNED } from '../claude-code/pinned.ts';
import { type MessagesApi, startMessagesApi } from '../messages-api/server.ts';
import { PostgresServer } from '../postgres/server.ts';
import { Fleet } from './fleet.ts';

let server: PostgresServer;

beforeAll(async () => {
  server = await PostgresServer.start();
});

afterAll(() => server.stop());

/** A fleet whose model answers each prompt with `slow` in it once the test says so. */
class SlowFleet {
  readonly fleet: Fleet;
  readonly api: MessagesApi;
  private readonly gate: { open: boolean };

  private constructor(fleet: Fleet, api: MessagesApi, gate: { open: boolean }) {
    this.fleet = fleet;
    this.api = api;
    this.gate = gate;
  }

  static async during(
    states: Readonly<Record<string, string>>,
    body: (rig: SlowFleet) => Promise<void>,
  ): Promise<void> {
    const fleet = await Fleet.open(server);
    const gate = { open: false };
    const api = await startMessagesApi(undefined, async ({ prompt }) => {
      while (prompt.includes('slow') && !gate.open) await delay(20);
    });
    try {
      await fleet.database.query(`update raymond.about set worker_deadline = '2 seconds'`);
      fleet.write(Object.fromEntries(Object.entries(states).map(([name, text]) => [`talk/${name}`, text])));
      await body(new SlowFleet(fleet, api, gate));
    } finally {
      gate.open = true;
      await fleet.close();
      await api.close();
    }
  }

  answer(): void {
    this.gate.open = true;
  }

  /** The micro-dollars that the run has spent, and those of them that are an estimate. */
  async ledger(): Promise<readonly [spentMicros: number, estimatedMicros: number]> {
    const { out } = await this.fleet.run('status', 'talk', '--json');
    const { cost_usd: spent, estimated_usd: estimated } = JSON.parse(out);
    return [Math.round(spent * 1e6), Math.round(estimated * 1e6)];
  }

  get chargedMicros(): number {
    return Math.round(this.api.chargedUsd() * 1e6);
  }

  async until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await delay(100);
  }
}

const CLAUDE = PINNED.at(-1);

describe
  .skipIf(CLAUDE?.isInstalled !== true)
  .concurrent('the cost of a turn whose worker is gone', { timeout: 120_000 }, () => {
    const args = (...more: readonly string[]): readonly string[] => {
      return ['run', 'talk', '--run-id', 'talk', '--claude', CLAUDE?.path ?? '', '--when-lost', 'rehome', ...more];
    };

    test('is its share until the worker is back, and then what it was, once; a resume continues with the rest', () =>
      SlowFleet.during({ 'START.md': 'slow «usage 9000 900» «say <result>over</result>»' }, async (rig) => {
        const { fleet, api } = rig;
        const one = await fleet.claudeWorker(api, 'one');
        const following = fleet.run(...args('--budget', '1'));
        await api.seen(({ prompt }) => prompt.startsWith('slow'));
        await fleet.claudeWorker(api, 'two');
        await one.kill('SIGKILL');
        const ended = await following;
        expect(ended.code).toBe(4);
        expect(await rig.ledger()).toStrictEqual([1_000_000, 1_000_000]);
        expect(api.requests).toHaveLength(1);

        rig.answer();
        await rig.until(async () => rig.chargedMicros > 0);
        const again = await fleet.claudeWorker(api, 'one');
        await rig.until(async () => (await rig.ledger())[1] === 0);
        expect(await rig.ledger()).toStrictEqual([rig.chargedMicros, 0]);
        const { out } = await fleet.run('costs', '--json');
        expect(JSON.parse(out).total).toMatchObject({ turns: 1, estimated_usd: 0, paid_usd: rig.chargedMicros / 1e6 });

        await again.kill('SIGKILL');
        await fleet.claudeWorker(api, 'one');
        expect(await fleet.run('resume', 'talk')).toMatchObject({ code: 0, out: 'over\n' });
        expect(api.requests).toHaveLength(2);
        expect(await rig.ledger()).toStrictEqual([rig.chargedMicros, 0]);
      }));

    test('is entered while the run is under way, and by the driver that has it then', () =>
      SlowFleet.during(
        {
          'START.md': 'quick «usage 1000 100» «say <goto>NEXT</goto>»',
          'NEXT.md': 'slow «usage 9000 900» «say <goto>WAIT.sh</goto>»',
          'WAIT.sh': '#!/bin/bash\nuntil [ -e open ]; do sleep 0.05; done\necho "<result>over</result>"\n',
        },
        async (rig) => {
          const { fleet, api } = rig;
          const one = await fleet.claudeWorker(api, 'one');
          const following = fleet.run(...args('--budget', '1'));
          await api.seen(({ prompt }) => prompt.startsWith('slow'));
          const quick = rig.chargedMicros;
          const two = await fleet.claudeWorker(api, 'two');
          await one.kill('SIGKILL');
          await two.says('is given to two');
          await rig.until(async () => (await rig.ledger())[1] > 0);
          expect((await rig.ledger())[1]).toBe(Math.floor((1_000_000 - quick) / 2));
          rig.answer();
          await rig.until(
            async () => api.requests.length === 3 && api.requests.every(({ chargedUsd }) => chargedUsd > 0),
          );
          // Its driver is killed, too: the next one enters the cost.
          await two.kill('SIGKILL');
          await Promise.all([fleet.claudeWorker(api, 'one'), fleet.claudeWorker(api, 'two')]);
          await rig.until(async () => (await rig.ledger())[1] === 0);
          fleet.write({ open: '' });
          expect(await following).toMatchObject({ code: 0, out: 'over\n' });
          expect(await rig.ledger()).toStrictEqual([rig.chargedMicros, 0]);
        },
      ));
  });
