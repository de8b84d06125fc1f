import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sumClaudeTurns } from '../../src/core/run/agent-index.ts';
import { withChange } from '../../src/core/run/change.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { Signal } from '../../src/core/signals/signal.ts';
import { step } from '../../src/core/step.ts';
import { TurnScheduler } from '../../src/core/turns/turn-scheduler.ts';
import { parseRun, serializeRun } from '../../src/storage/run-schema.ts';
import { RunDriver, scopeOfWorkflow, startRun } from './run-driver.ts';

const WORKFLOW = { files: ['START.sh', 'ONE.md', 'TWO.md', 'DONE.sh'] };
const RULES = { policy: [], maxVisits: null };

/** How much the work of an agent in a state costs, and each request to the API on the way. */
interface Price {
  readonly micros: number;
  readonly requestMicros: number;
}

interface Fan {
  readonly workers: number;
  readonly parallel: number | null;
  readonly budgetMicros: number;
  /** The prices of the states, which each worker goes through in this order. */
  readonly prices: Readonly<Record<string, (agent: string) => Price>>;
  /** Which of the turns under way ends next. */
  readonly pick: (count: number) => number;
}

/**
 * Plays a run that forks workers and sends each through all states. Its Claude Code looks at what it has spent after
 * every request and ends when its cap is reached, like the real one.
 */
function playFan({ workers, parallel, budgetMicros, prices, pick }: Fan): { run: Run; mostAtOnce: number } {
  const states = Object.keys(prices);
  const paid = new Map<string, number>();
  const underWay: { agent: string; answer: () => Signal }[] = [];
  let run = startRun(WORKFLOW, { parallel, budgetMicros });
  const scheduler = new TurnScheduler(run);
  let mostAtOnce = 0;
  const say = (signal: Signal): void => {
    const applied = withChange(run, step(run, signal));
    run = applied.step.run;
    scheduler.update(signal, applied);
    const { count, capMicros, uncapped } = sumClaudeTurns(run.agents);
    mostAtOnce = Math.max(mostAtOnce, count);
    expect(uncapped).toBe(0);
    // A turn that has ended may have cost a request more than its cap, so only a beginning can be held to it.
    if (signal.kind === 'began') expect(capMicros).toBeLessThanOrEqual(budgetMicros - run.ledger.spentMicros);
  };
  const answered = (agent: string, text: string, micros: number | null): Signal => ({
    kind: 'answered',
    at: 1,
    agent,
    text,
    denials: [],
    folders: {},
    scope: scopeOfWorkflow(WORKFLOW),
    cost: micros === null ? null : { kind: 'reported', micros },
  });
  const work = (agent: string, state: string, capMicros: number): Signal => {
    const key = `${agent} ${state}`;
    const before = paid.get(key) ?? 0;
    const { micros, requestMicros } = prices[state]?.(agent) ?? { micros: 0, requestMicros: 1 };
    const left = micros - before;
    const now = Math.min(left, Math.ceil(capMicros / requestMicros) * requestMicros);
    paid.set(key, before + now);
    if (now === left) {
      const next = states[states.indexOf(state) + 1];
      return answered(agent, next === undefined ? '<result>done</result>' : `<goto>${next}</goto>`, now);
    }
    const failure = { kind: 'budget', message: 'the share is used up' } as const;
    const cost = { kind: 'reported', micros: now } as const;
    return { kind: 'failed', at: 1, agent, failure, cost, progress: 'answer', jitter: 0 };
  };
  for (;;) {
    for (const turn of scheduler.due()) {
      const { agent } = turn;
      if (!('record' in turn)) throw new Error('nobody sleeps here');
      if (turn.record === null) say({ kind: 'began', at: 0, agent, sessionId: agent, rules: RULES, warnings: [] });
      scheduler.markStarted(agent);
      const forks = `<fork next="DONE">${states[0]}</fork>`.repeat(workers);
      if (turn.kind === 'script') {
        const text = turn.state === 'START.sh' ? forks : '<result>done</result>';
        underWay.push({ agent, answer: () => answered(agent, text, null) });
      } else {
        const capMicros = turn.budgetMicros ?? Number.POSITIVE_INFINITY;
        underWay.push({ agent, answer: () => work(agent, turn.state, capMicros) });
      }
    }
    const [ended] = underWay.splice(pick(underWay.length), 1);
    if (ended === undefined) return { run, mostAtOnce };
    say(ended.answer());
  }
}

const first = () => 0;
const doneCount = ({ agents }: Run): number => agents.filter(({ phase }) => phase.kind === 'ended').length - 1;

const price = (usd: number, requestUsd: number) => (): Price => ({
  micros: Math.round(usd * 1e6),
  requestMicros: Math.round(requestUsd * 1e6),
});

for (const workers of [50, 500]) {
  for (const parallel of [8, null]) {
    test(`${workers} agents, ${parallel ?? 'all'} at once, whose cost nobody knows, spend what they may and a request each`, () => {
      const { run, mostAtOnce } = playFan({
        workers,
        parallel,
        budgetMicros: 1_000_000,
        pick: first,
        prices: { 'ONE.md': price(0.9, 0.001) },
      });
      expect(run.status).toBe('budget_exceeded');
      expect(mostAtOnce).toBe(Math.min(workers, parallel ?? workers));
      expect(run.ledger.spentMicros).toBeLessThanOrEqual(1_000_000 + mostAtOnce * 1000);
    });

    test(`${workers} agents, ${parallel ?? 'all'} at once, all come to their end if there is enough for them`, () => {
      const { run } = playFan({
        workers,
        parallel,
        budgetMicros: workers * 1_000_000 + 2_000_000,
        pick: first,
        prices: { 'ONE.md': price(0.1, 0.1), 'TWO.md': price(0.9, 0.01) },
      });
      expect([run.status, run.ledger.spentMicros]).toStrictEqual(['completed', workers * 1_000_000]);
    });
  }

  test(`of ${workers} items of two states, about as many are finished as there is money for`, () => {
    const affordable = Math.round(workers * 0.31);
    const { run } = playFan({
      workers,
      parallel: 8,
      budgetMicros: affordable * 200_000,
      pick: first,
      prices: { 'ONE.md': price(0.1, 0.01), 'TWO.md': price(0.1, 0.01) },
    });
    expect(run.status).toBe('budget_exceeded');
    expect(doneCount(run)).toBeGreaterThanOrEqual(affordable - 2);
  });
}

test('whatever turns cost and however they end, the caps keep the run within its budget and a request for each', () => {
  const request = fc.integer({ min: 1, max: 50_000 });
  const fan = fc.record({
    workers: fc.integer({ min: 1, max: 60 }),
    parallel: fc.option(fc.integer({ min: 1, max: 20 })),
    budgetMicros: fc.integer({ min: 1, max: 5_000_000 }),
    costs: fc.array(fc.record({ micros: fc.nat(900_000), requestMicros: request }), { minLength: 1, maxLength: 9 }),
    picks: fc.infiniteStream(fc.nat(1000)),
  });
  fc.assert(
    fc.property(fan, ({ workers, parallel, budgetMicros, costs, picks }) => {
      const priceAt = (offset: number) => (agent: string) =>
        costs[(agent.length + Number(agent.replace(/\D/g, '')) + offset) % costs.length] as Price;
      const prices = { 'ONE.md': priceAt(0), 'TWO.md': priceAt(1) };
      const pick = (count: number): number => (count === 0 ? 0 : picks.next().value % count);
      const { run, mostAtOnce } = playFan({ workers, parallel, budgetMicros, prices, pick });
      const dearest = Math.max(...costs.map(({ requestMicros }) => requestMicros));
      expect(run.ledger.spentMicros).toBeLessThanOrEqual(budgetMicros + mostAtOnce * dearest);
      expect(['completed', 'budget_exceeded']).toContain(run.status);
      if (run.status === 'budget_exceeded') expect(run.ledger.spentMicros).toBeGreaterThanOrEqual(budgetMicros);
    }),
    { numRuns: 60, endOnFailure: true },
  );
});

test.each([
  ['1e10 dollars', 1e16, 10_000_000_000, '10000000000'],
  ['1e305 dollars', Number.POSITIVE_INFINITY, 10_000_000_000, 'Infinity'],
  ['no number', Number.NaN, 0, 'NaN'],
  ['less than nothing', -5_000_000, 0, '-5'],
])(
  'a cost that no turn can have (%s) is an estimate, and the run can be saved and loaded',
  (_, micros, counted, usd) => {
    const driver = new RunDriver({ files: ['A.md', 'B.md'] }, { budgetMicros: null });
    driver.answer({ text: '<goto>B</goto>', cost: { kind: 'reported', micros } });
    expect(driver.run.ledger).toMatchObject({ spentMicros: counted, estimatedMicros: counted });
    expect(parseRun(serializeRun(driver.run), 'run.json')).toStrictEqual(driver.run);
    expect(driver.events.filter(({ kind }) => kind === 'warning')).toMatchObject([
      {
        message: `A.md: a cost of ${usd} dollars was reported, which no turn can have; ${counted / 1e6} dollars are counted as an estimate`,
      },
    ]);
  },
);

test('however many turns cost the most that is believed, the sum can be saved', () => {
  const driver = new RunDriver({ files: ['A.md'] }, { budgetMicros: null });
  const ledger = { ...driver.run.ledger, spentMicros: Number.MAX_SAFE_INTEGER - 5, turns: 900_000 };
  driver.run = { ...driver.run, ledger };
  driver.answer({ text: '<goto>A</goto>', cost: { kind: 'reported', micros: 10 } });
  expect(parseRun(serializeRun(driver.run), 'run.json').ledger.spentMicros).toBe(Number.MAX_SAFE_INTEGER);
});
