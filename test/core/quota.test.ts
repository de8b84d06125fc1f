import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS, mergeOptions, type Options } from '../../src/core/options/options.ts';
import { dropPassedWindows, findReserveHold, mergeQuota, parallelTurns, type Quota } from '../../src/core/run/quota.ts';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver } from './run-driver.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const quota = (
  percent: number | null,
  { at = 1000, type = 'five_hour', resetsInMs = HOUR_MS, account = 'a' } = {},
): Quota => ({
  account,
  windows: { [type]: { percent, status: 'allowed', resetsAtMs: at + resetsInMs, reportedAt: at } },
});

const given = (options: Partial<Options>, known: Quota | null) => ({
  id: 'run-1',
  options: mergeOptions(DEFAULT_OPTIONS, options),
  quota: known,
});

describe('the last word', () => {
  test('about each window counts', () => {
    const both = mergeQuota(quota(10), quota(31, { type: 'seven_day' }), 1000);
    expect(Object.keys(both.windows)).toStrictEqual(['five_hour', 'seven_day']);
    expect(mergeQuota(both, quota(5, { at: 2000 }), 2000).windows.five_hour?.percent).toBe(5);
    expect(mergeQuota(both, quota(5, { at: 500 }), 2000)).toBe(both);
  });

  test('of two at the same moment is the one with the higher share, in whatever order they come', () => {
    expect(mergeQuota(quota(10), quota(20), 1000)).toStrictEqual(mergeQuota(quota(20), quota(10), 1000));
  });

  test('that was said before the clock was set back gives way', () => {
    expect(mergeQuota(quota(90, { at: 9000 }), quota(5, { at: 2000 }), 2000).windows.five_hour?.percent).toBe(5);
  });

  test('about another account makes the run forget the one before', () => {
    expect(mergeQuota(quota(90), quota(5, { account: 'b', type: 'seven_day' }), 1000)).toStrictEqual(
      quota(5, { account: 'b', type: 'seven_day' }),
    );
  });

  test('is forgotten once the window is empty again, or if its reset is so far away that a clock was wrong', () => {
    expect(dropPassedWindows(quota(90), 1000 + HOUR_MS).windows).toStrictEqual({});
    expect(dropPassedWindows(quota(90, { resetsInMs: 9 * DAY_MS }), 1000).windows).toStrictEqual({});
    expect(dropPassedWindows(null, 1000)).toBeNull();
    const full = quota(90);
    expect(dropPassedWindows(full, 999 + HOUR_MS)).toBe(full);
  });
});

describe('--slow-at', () => {
  test.each([
    ['79.99', 79.99, 8],
    ['80', 80, 8],
    ['81', 81, 7],
    ['90', 90, 4],
    ['99', 99, 1],
    ['100', 100, 1],
    ['130', 130, 1],
  ])('at %s %% of use leaves so many of 8 turns', (_name, percent, turns) => {
    expect(parallelTurns(given({ slowAt: 80 }, quota(percent)))).toBe(turns);
  });

  test('leaves one turn where the reserve begins', () => {
    const at = (percent: number): number | null =>
      parallelTurns(given({ slowAt: 50, reserve: 20, parallel: 4 }, quota(percent)));
    expect([49, 50, 60, 70, 79, 80, 95].map(at)).toStrictEqual([4, 4, 3, 2, 1, 1, 1]);
  });

  test('takes the fullest window, but neither one whose share is not known nor usage that is paid for separately', () => {
    const windows = { ...quota(85).windows, ...quota(95, { type: 'seven_day' }).windows };
    expect(parallelTurns(given({ slowAt: 80 }, { account: 'a', windows }))).toBe(2);
    expect(parallelTurns(given({ slowAt: 80 }, quota(95, { type: 'overage' })))).toBe(8);
    expect(parallelTurns(given({ slowAt: 80 }, quota(null)))).toBe(8);
  });

  test('counts from 8 where any number of turns may run at once', () => {
    expect(parallelTurns(given({ slowAt: 80, parallel: 0 }, quota(50)))).toBeNull();
    expect(parallelTurns(given({ slowAt: 80, parallel: 0 }, quota(90)))).toBe(4);
  });

  test('changes nothing if it is not set, is 0, or nothing is known', () => {
    expect(parallelTurns(given({}, quota(100)))).toBe(8);
    expect(parallelTurns(given({ slowAt: 0 }, quota(100)))).toBe(8);
    expect(parallelTurns(given({ slowAt: 80 }, null))).toBe(8);
  });
});

const FLOW = { files: ['START.md', 'A.md', 'S.sh'] };
const fork = (count: number, state: string): string => `${`<fork>${state}</fork>`.repeat(count)}<goto>START</goto>`;
const claudeTurns = ({ run }: RunDriver): number => due(run).filter(({ kind }) => kind === 'claude').length;

describe('a run that hears of its quota', () => {
  const report = (driver: RunDriver, known: Quota): RunDriver => {
    driver.apply({ kind: 'quota_reported', at: 2000, quota: known });
    return driver;
  };

  test('keeps it, and tells of it when a whole percentage has changed', () => {
    const driver = report(
      report(new RunDriver(FLOW), quota(83.2)),
      quota(83.7, { at: 1500, resetsInMs: HOUR_MS - 500 }),
    );
    expect(driver.run.quota?.windows.five_hour?.percent).toBe(83.7);
    expect(driver.events.filter(({ kind }) => kind === 'quota')).toStrictEqual([
      { kind: 'quota', at: 2000, quota: quota(83.2), parallel: null },
    ]);
  });

  test('has fewer Claude turns from --slow-at on, and as many scripts as before', () => {
    const driver = new RunDriver(FLOW, { slowAt: 80 }).answer(fork(9, 'A') + fork(9, 'S').replace(/<goto.*/, ''));
    expect(claudeTurns(driver)).toBe(8);
    report(driver, quota(90));
    expect(claudeTurns(driver)).toBe(4);
    expect(due(driver.run).filter(({ kind }) => kind === 'script')).toHaveLength(9);
    expect(driver.events.at(-1)).toMatchObject({ kind: 'quota', parallel: 4 });
  });

  test('sleeps from the reserve on, and continues after the reset', () => {
    const driver = report(new RunDriver(FLOW, { reserve: 20 }), quota(80));
    const message = '80 % of the 5-hour window is used, and 20 % is kept for you (--reserve).';
    const untilMs = driver.run.hold?.untilMs ?? 0;
    expect(driver.run.hold).toStrictEqual({ untilMs, message, reserve: true });
    expect(untilMs - (1000 + HOUR_MS)).toBeGreaterThanOrEqual(0);
    expect(untilMs - (1000 + HOUR_MS)).toBeLessThan(10_000);
    expect(due(driver.run)).toStrictEqual([
      { kind: 'sleep', agent: 'main', why: 'usage_limit', untilMs, mostMs: expect.any(Number) },
    ]);
    driver.apply({ kind: 'woke', at: untilMs, agent: 'main' });
    expect([driver.run.hold, driver.run.quota?.windows, claudeTurns(driver)]).toStrictEqual([null, {}, 1]);
  });

  test('lets the turns that are under way come to their end', () => {
    const driver = new RunDriver(FLOW, { reserve: 20 });
    driver.begin('main');
    report(driver, quota(99));
    expect([driver.run.hold, driver.run.status]).toStrictEqual([null, 'running']);
    driver.reply('main', '<result>done</result>');
    expect(driver.run.status).toBe('completed');
  });

  test('continues at once if another account is in use', () => {
    const driver = report(new RunDriver(FLOW, { reserve: 20 }), quota(80));
    report(driver, quota(10, { account: 'b' }));
    expect([driver.run.hold, claudeTurns(driver)]).toStrictEqual([null, 1]);
  });

  test('pauses with --no-wait, and if the reset is further away than --max-wait', () => {
    const paused = (options: Partial<Options>, known: Quota) =>
      report(new RunDriver(FLOW, { reserve: 20, ...options }), known).run;
    expect(paused({ wait: false }, quota(80)).status).toBe('paused');
    const weekly = quota(80, { type: 'seven_day', resetsInMs: 3 * DAY_MS });
    expect(paused({}, weekly)).toMatchObject({
      status: 'paused',
      stop: { kind: 'usage_limit', message: expect.stringContaining('80 % of the weekly window') },
    });
    expect(paused({ maxWaitMs: 0 }, weekly).status).toBe('running');
    expect(paused({ maxWaitMs: 4 * DAY_MS }, weekly).status).toBe('running');
  });

  test('does not begin a turn from the reserve although it was due when others had learned more', () => {
    const driver = new RunDriver(FLOW, { reserve: 20 });
    const rules = { policy: [], maxVisits: null };
    driver.apply({ kind: 'began', at: 1500, agent: 'main', sessionId: 's', rules, warnings: [], quota: quota(85) });
    expect(driver.run.agents[0]).toMatchObject({ turns: 0, phase: { kind: 'sleeping', why: 'usage_limit' } });
  });

  test('begins no other turn that was due when one brought news of the quota', () => {
    const driver = new RunDriver(FLOW, { slowAt: 50, reserve: 20 }).answer(fork(3, 'A'));
    const agents = driver.run.agents.map(({ id }) => id);
    const begin = (agent: string, known: object) => {
      const rules = { policy: [], maxVisits: null };
      driver.apply({ kind: 'began', at: 1500, agent, sessionId: agent, rules, warnings: [], ...known });
    };
    begin(agents[1] ?? '', { quota: quota(79) });
    begin(agents[2] ?? '', {});
    expect(driver.run.agents.map(({ phase }) => phase.kind)).toStrictEqual(['ready', 'running', 'ready', 'ready']);
    begin(agents[3] ?? '', { quota: quota(80, { at: 1600 }) });
    for (const agent of agents) if (agent !== agents[1]) begin(agent, {});
    expect(driver.run.agents.map(({ phase }) => phase.kind).sort()).toStrictEqual([
      'ready',
      'ready',
      'running',
      'sleeping',
    ]);
  });

  test('that is resumed without a reserve, or with another account, does not wait', () => {
    const resume = (more: object) => {
      const driver = report(new RunDriver(FLOW, { reserve: 20 }), quota(80));
      driver.apply({ kind: 'resumed', at: 2000, options: {}, retry: false, lookedUp: {}, ...more });
      return claudeTurns(driver);
    };
    expect(resume({})).toBe(0);
    expect(resume({ options: { reserve: 0 } })).toBe(1);
    expect(resume({ quota: quota(10, { account: 'b' }) })).toBe(1);
    expect(resume({ quota: null })).toBe(1);
  });

  test('has no reserve for a window of which only some words are known', () => {
    expect(findReserveHold(given({ reserve: 20 }, quota(null)))).toBeNull();
    expect(findReserveHold(given({ reserve: 20 }, quota(79.99)))).toBeNull();
    expect(findReserveHold(given({}, quota(100)))).toBeNull();
  });
});

test('a usage limit that ends days later pauses the run, however it was met', () => {
  const fail = { kind: 'usage_limit', message: 'limit', untilMs: 3 * DAY_MS } as const;
  expect(new RunDriver(FLOW).answer({ fail }).run).toMatchObject({ status: 'paused', stop: { untilMs: 3 * DAY_MS } });
  expect(new RunDriver(FLOW, { maxWaitMs: 7 * DAY_MS }).answer({ fail }).run.status).toBe('running');
});

test('a hold whose sleeper a join needed no more does not last forever', () => {
  const driver = new RunDriver(FLOW, { parallel: 3 }).answer(
    '<fork>A</fork><fork>A</fork><join wait="any" cancel="true">START</join>',
  );
  const [first, second] = driver.run.agents.slice(1).map(({ id }) => id);
  driver.begin(second ?? '');
  driver.runTurn(first ?? '', { fail: { kind: 'usage_limit', message: 'limit', untilMs: 9000 } });
  driver.reply(second ?? '', '<result>x</result>');
  expect(driver.run.hold).not.toBeNull();
  expect(due(driver.run)).toMatchObject([{ kind: 'sleep', agent: 'main', untilMs: 9000 }]);
});
