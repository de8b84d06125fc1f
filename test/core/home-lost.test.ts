import { describe, expect, test } from 'vitest';
import type { Options } from '../../src/core/options/options.ts';
import type { Step } from '../../src/core/run/event.ts';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver, type TestWorkflow, usd } from './run-driver.ts';

const ON_ERROR = { retry: null, on: { error: 'NEXT.md' }, maxVisitsPer: 'agent', stuck: null } as const;
const PROMPTS: TestWorkflow = {
  files: ['START.md', 'NEXT.md', 'W.md', 'MERGE.md'],
  rules: { 'START.md': { guards: ON_ERROR } },
};
const SCRIPT: TestWorkflow = { files: ['START.sh'] };

/** A run whose agents are at the worker `one`; without a budget, unless a test has one. */
function startAt(workflow: TestWorkflow, options: Partial<Options> = { budgetMicros: null }): RunDriver {
  const driver = new RunDriver(workflow, options);
  driver.run = { ...driver.run, agents: driver.run.agents.map((agent) => ({ ...agent, node: 'one' })) };
  return driver;
}

const lose = (driver: RunDriver, to: string | null, agent = 'main', home = 'one', mayHaveRun = true): Step =>
  driver.apply({ kind: 'home_lost', at: 7000, agent, home, to, mayHaveRun, jitter: 0.5 });

const kinds = ({ events }: Step): readonly string[] => events.map(({ kind }) => kind);

describe('an agent whose worker is gone', () => {
  test('is asked again at another one, in the conversation as it was before the lost turn', () => {
    const driver = startAt(PROMPTS).answer({ text: '<goto>NEXT</goto>', cost: usd(2) });
    driver.begin('main');
    const lost = lose(driver, 'two');
    expect(lost.events).toMatchObject([
      { kind: 'rehomed', agent: 'main', state: 'NEXT.md', from: 'one', to: 'two' },
      { kind: 'turn_ended', turn: 2, failure: 'lost', estimated: true, costMicros: 2_000_000 },
    ]);
    expect(driver.agent()).toMatchObject({ node: 'two', phase: { kind: 'ready', prompt: { kind: 'state' } } });
    driver.answer('<result>done</result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1', 'resume s1']);
    expect(driver.run.status).toBe('completed');
  });

  test('begins a new conversation there if the lost turn was to begin one', () => {
    const driver = startAt(PROMPTS);
    driver.begin('main');
    lose(driver, 'two');
    driver.answer('<result>done</result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'new s2']);
  });

  test('pauses if it was a script, of which nobody knows how far it came; --retry runs it at the new one', () => {
    const driver = startAt(SCRIPT);
    driver.begin('main');
    expect(kinds(lose(driver, 'two'))).toStrictEqual(['rehomed', 'turn_ended', 'agent_paused', 'run_ended']);
    expect(driver.agent().phase).toMatchObject({
      why: 'interrupted',
      message: 'the worker one is gone, and nobody knows how far the script came; `resume --retry` runs it again',
    });
    driver.resume({}, true);
    expect(driver.agent()).toMatchObject({ node: 'two', phase: { kind: 'ready' } });
  });

  test('runs a script there that surely did not run before', () => {
    const driver = startAt(SCRIPT);
    driver.begin('main');
    expect(kinds(lose(driver, 'two', 'main', 'one', false))).toStrictEqual(['rehomed', 'turn_ended']);
    expect(driver.agent()).toMatchObject({ node: 'two', phase: { kind: 'ready' } });
  });

  test('runs a repeatable script again', () => {
    const driver = startAt({ ...SCRIPT, rules: { 'START.sh': { repeatable: true } } });
    driver.begin('main');
    expect(kinds(lose(driver, 'two'))).toStrictEqual(['rehomed', 'turn_ended', 'warning']);
    expect(driver.agent()).toMatchObject({ node: 'two', phase: { kind: 'ready' } });
  });

  test('only gets another home if no turn of it was under way', () => {
    const driver = startAt(PROMPTS);
    expect(kinds(lose(driver, 'two'))).toStrictEqual(['rehomed']);
    expect(driver.agent()).toMatchObject({ node: 'two', phase: { kind: 'ready' } });
  });

  test('is left alone if it has moved before', () => {
    const driver = startAt(PROMPTS);
    driver.begin('main');
    const { run } = driver;
    expect(lose(driver, 'three', 'main', 'elsewhere')).toMatchObject({ events: [], run: { agents: run.agents } });
  });

  test('or fails with a sentence that names the worker, whatever a guard says', () => {
    const driver = startAt(PROMPTS);
    driver.begin('main');
    expect(kinds(lose(driver, null))).toStrictEqual(['turn_ended', 'agent_failed', 'run_ended']);
    expect(driver.agent().phase).toStrictEqual({
      kind: 'failed',
      message:
        'START.md: the worker one is gone, with its conversation and its folder; `resume --retry` tries again, with `--when-lost rehome` at another worker',
    });
  });
});

describe('a worker of a fork whose machine is gone', () => {
  const FORK = '<fork worktree="auto">W</fork><join>MERGE</join>';
  const place = { path: '/w/t', branch: 'b', base: 'c0ffee', repository: '/w/.git' };
  const made = (driver: RunDriver): Step =>
    driver.apply({ kind: 'worktree_made', at: 5000, agent: 'main_w1', place, cwd: '/w/t', home: 'three' });

  test('fails, and the join takes note as soon as its worktree is given up', () => {
    const driver = startAt(PROMPTS).answer(FORK);
    made(driver);
    driver.begin('main_w1');
    expect(kinds(lose(driver, null, 'main_w1', 'three'))).toStrictEqual(['turn_ended', 'worktree_leaving']);
    expect(lose(driver, null, 'main_w1', 'three').events).toMatchObject([
      { kind: 'warning', message: 'the worker three is gone: what is in the worktree of main_w1 is not known' },
      { kind: 'agent_failed' },
      { kind: 'joined', to: 'MERGE.md', workers: { failed: 1 } },
    ]);
  });

  test('fails before it has a worktree', () => {
    const driver = startAt(PROMPTS).answer(FORK);
    expect(kinds(lose(driver, null, 'main_w1'))).toStrictEqual(['worktree_leaving']);
    expect(kinds(lose(driver, null, 'main_w1'))).toStrictEqual(['warning', 'agent_failed', 'joined']);
  });

  test('is cancelled like any other', () => {
    const driver = startAt(PROMPTS).answer('<fork>W</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.begin('main_w1');
    driver.runTurn('main_w2', '<result>first</result>');
    expect(driver.agent('main_w1').phase.kind).toBe('cancelling');
    expect(kinds(lose(driver, null, 'main_w1'))).toStrictEqual(['turn_ended', 'agent_cancelled', 'joined']);
    expect(driver.run.status).toBe('running');
  });
});

describe('the cost of a turn whose worker is gone', () => {
  const BUDGET = { budgetMicros: 1_000_000, whenLost: 'rehome' } as const;
  const found = (driver: RunDriver, usdSpent: number, turn = 1): Step =>
    driver.apply({ kind: 'cost_found', at: 9000, about: { agent: 'main' }, turn, cost: usd(usdSpent) });

  test('is its share of the budget, so that no other turn spends that', () => {
    const driver = startAt(PROMPTS, BUDGET);
    driver.begin('main');
    expect(kinds(lose(driver, 'two'))).toStrictEqual(['rehomed', 'turn_ended', 'run_stopping', 'run_ended']);
    expect(driver.run).toMatchObject({
      status: 'budget_exceeded',
      ledger: { spentMicros: 1_000_000, estimatedMicros: 1_000_000 },
    });
    driver.resume({ budgetMicros: 2_000_000 });
    driver.begin('main');
    expect(driver.agent().phase).toMatchObject({ kind: 'running', turn: { capMicros: 1_000_000 } });
  });

  test('leaves as much for the turn that replaces it, where that is plenty by what turns have cost', () => {
    const driver = startAt(PROMPTS, BUDGET).answer({ text: '<goto>NEXT</goto>', cost: usd(0.1) });
    driver.begin('main');
    lose(driver, 'two');
    expect(driver.run).toMatchObject({ status: 'running', ledger: { spentMicros: 550_000, estimatedMicros: 450_000 } });
    driver.answer({ text: '<result>done</result>', cost: usd(0.1) });
    expect(driver.run).toMatchObject({ status: 'completed', ledger: { spentMicros: 650_000 } });
  });

  test('is entered once when the worker is back, while the run is under way and after it has ended', () => {
    const driver = startAt(PROMPTS, BUDGET).answer({ text: '<goto>NEXT</goto>', cost: usd(0.1) });
    driver.begin('main');
    lose(driver, 'two');
    driver.begin('main');
    expect(found(driver, 0.3, 2).events).toMatchObject([
      { kind: 'cost_corrected', turn: 2, formerMicros: 450_000, costMicros: 300_000, spentMicros: 400_000 },
    ]);
    expect(driver.agent()).toMatchObject({ phase: { kind: 'running' }, costMicros: 400_000, stateMicros: 300_000 });
    driver.reply('main', { text: '<result>done</result>', cost: usd(0.1) });
    expect(found(driver, 0.3, 2).events).toStrictEqual([]);
    expect(driver.run.ledger).toMatchObject({ spentMicros: 500_000, estimatedMicros: 0 });
    expect(driver.run.ledger.unknown).toBe(undefined);

    const stopped = startAt(PROMPTS, BUDGET);
    stopped.begin('main');
    lose(stopped, 'two');
    expect(kinds(found(stopped, 0.9))).toStrictEqual(['cost_corrected']);
    expect(stopped.run).toMatchObject({
      status: 'budget_exceeded',
      ledger: { spentMicros: 900_000, estimatedMicros: 0, states: { 'START.md': { turns: 1, micros: 900_000 } } },
    });
    stopped.resume();
    expect(stopped.run.status).toBe('running');
  });

  test('stops the run if it was more than its share, and the budget is used up with that', () => {
    const driver = startAt(PROMPTS, BUDGET).answer({ text: '<goto>NEXT</goto>', cost: usd(0.1) });
    driver.begin('main');
    lose(driver, 'two');
    expect(kinds(found(driver, 0.95, 2))).toStrictEqual(['cost_corrected', 'run_stopping', 'run_ended']);
  });

  test('is its share for each of several lost turns, and the others have what is left', () => {
    const driver = startAt(PROMPTS, { budgetMicros: 3_000_000, whenLost: 'rehome' });
    driver.answer('<fork next="NEXT">W</fork><fork>W</fork><goto>NEXT</goto>');
    for (const agent of ['main', 'main_w1', 'main_w2']) driver.begin(agent);
    for (const agent of ['main_w1', 'main_w2']) lose(driver, 'two', agent);
    expect(driver.run.ledger.estimatedMicros).toBe(2_000_000);
    expect(driver.run.ledger.unknown?.map(({ agent, turn }) => [agent, turn])).toStrictEqual([
      ['main_w1', 1],
      ['main_w2', 1],
    ]);
    // What is left is reserved for the turn that runs.
    expect(due(driver.run).map(({ agent }) => agent)).toStrictEqual(['main']);
  });

  test('is the average of its state without a budget, and 0 if nothing is known', () => {
    const driver = startAt(PROMPTS);
    driver.begin('main');
    lose(driver, 'two');
    expect(driver.run.ledger).toMatchObject({ spentMicros: 0, unknown: [{ agent: 'main', turn: 1, micros: 0 }] });
    found(driver, 0.9);
    expect(driver.run.ledger).toMatchObject({ spentMicros: 900_000, estimatedMicros: 0 });
  });
});
