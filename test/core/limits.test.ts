import { describe, expect, test } from 'vitest';
import { due } from '../../src/core/due.ts';
import { Stage, usd } from './play.ts';

const LOOP = { files: ['LOOP.md', 'WORK.md', 'FREE.sh'] };
const again = (dollars: number) => ({ text: '<goto>LOOP</goto>', cost: usd(dollars) });

describe('budget', () => {
  test('when it is used up no transition is followed, and the run ends', () => {
    const stage = new Stage(LOOP, { budgetMicros: 1_000_000 }).plays(again(0.6), again(0.6));
    expect(stage.run.status).toBe('budget_exceeded');
    expect(stage.run.ledger.spentMicros).toBe(1_200_000);
    expect(due(stage.run)).toStrictEqual([]);
    expect(stage.told('transition')).toHaveLength(1);
    expect(stage.told('answer_withheld')).toHaveLength(1);
    expect(stage.told('run_ended')).toMatchObject([{ status: 'budget_exceeded', spentMicros: 1_200_000 }]);
  });

  test('not even a result is followed: it is not the answer of a caller', () => {
    const stage = new Stage(LOOP, { budgetMicros: 1_000_000 });
    stage.plays('<call return="WORK">LOOP</call>', { text: '<result>r</result>', cost: usd(1) });
    expect(stage.run.status).toBe('budget_exceeded');
    expect(stage.agent()).toMatchObject({ state: 'LOOP.md', phase: { kind: 'withheld' } });
  });

  test('a resume with more money follows the answer that was kept; without, it ends as before', () => {
    const stage = new Stage(LOOP, { budgetMicros: 1_000_000 }).plays(again(1)).resume();
    expect(stage.run.status).toBe('budget_exceeded');
    stage.resume({ budgetMicros: 5_000_000 });
    expect(stage.run.status).toBe('running');
    expect(stage.told('transition')).toMatchObject([{ tag: 'goto', to: 'LOOP.md', costMicros: 1_000_000 }]);
    stage.plays('<result>ok</result>');
    expect(stage.run.status).toBe('completed');
  });

  test('turns under way finish and are counted, but nobody is followed, not even a free script', () => {
    const stage = new Stage(LOOP, { budgetMicros: 1_000_000 });
    stage.plays('<fork next="LOOP">WORK</fork><fork next="LOOP">FREE</fork>');
    for (const agent of ['main', 'main_work1', 'main_free2']) stage.begin(agent);
    stage.reply('main', again(1));
    expect(stage.run.status).toBe('running');
    stage.reply('main_work1', { text: '<result>w</result>', cost: usd(0.5) }).reply('main_free2', '<result>f</result>');
    expect(stage.run).toMatchObject({ status: 'budget_exceeded', ledger: { spentMicros: 1_500_000 } });
    stage.resume({ budgetMicros: 2_000_000 });
    expect(stage.run.agents.map(({ phase }) => phase.kind)).toStrictEqual(['ready', 'ended', 'ended']);
  });

  test('a turn that reaches it inside goes on with its own conversation after the resume', () => {
    const stage = new Stage(LOOP, { budgetMicros: 1_000_000 });
    stage.plays({ fail: { kind: 'budget', message: 'budget reached' }, progress: 'answer', cost: usd(1.1) });
    expect(stage.run.status).toBe('budget_exceeded');
    stage.resume({ budgetMicros: 2_000_000 });
    expect(due(stage.run)).toMatchObject([{ kind: 'claude', prompt: { kind: 'continue' }, budgetMicros: 900_000 }]);
    stage.begin('main');
    expect(stage.sessionsUsed).toStrictEqual(['new s1', 'resume s1']);
  });

  test('a turn starts only if something is left beside what the running ones are expected to cost', () => {
    const stage = new Stage(LOOP, { budgetMicros: 1_000_000 });
    stage.plays({ text: '<fork next="LOOP">LOOP</fork><fork next="LOOP">LOOP</fork>', cost: usd(0.5) });
    expect(due(stage.run)).toMatchObject([{ agent: 'main', budgetMicros: 500_000 }]);
    stage.begin('main');
    expect(due(stage.run).map((turn) => turn.agent)).toStrictEqual(['main']);
    stage.reply('main', { text: '<result>m</result>', cost: usd(0.1) });
    expect(due(stage.run)).toMatchObject([{ agent: 'main_loop1', budgetMicros: 400_000 }, { agent: 'main_loop2' }]);
  });

  test('a turn that reaches only its own share goes on when it can, and does not end the run', () => {
    const stage = new Stage(LOOP, { budgetMicros: 1_000_000 });
    stage.plays({ text: '<fork next="LOOP">WORK</fork>', cost: usd(0.1) });
    stage.begin('main_work1');
    stage.reply('main_work1', { fail: { kind: 'budget', message: 'share used' }, progress: 'answer', cost: usd(0.2) });
    expect(stage.run).toMatchObject({ status: 'running', stop: null });
    expect(stage.agent('main_work1').phase).toMatchObject({ kind: 'ready', prompt: { kind: 'continue' } });
    stage.take('main_work1', {
      fail: { kind: 'budget', message: 'no share at all' },
      progress: 'answer',
      cost: usd(0),
    });
    expect(stage.run.stop).toStrictEqual({ kind: 'budget' });
  });

  test('a turn that never ran does not lower what turns are expected to cost', () => {
    const stage = new Stage(LOOP).plays({ fail: { kind: 'lost', message: 'gone' } }, again(1));
    expect(stage.run.ledger).toMatchObject({ turns: 1, states: { 'LOOP.md': { turns: 1, micros: 1_000_000 } } });
  });

  test.each(['budgetMicros', 'parallel', 'maxIterations'])('%s of nothing is no limit', (limit) => {
    const stage = new Stage(LOOP, { [limit]: 0 }).plays(again(1));
    expect(due(stage.run)).toHaveLength(1);
  });

  test('without a budget nothing is held back', () => {
    const stage = new Stage(LOOP, { budgetMicros: null }).plays(again(1000));
    expect(due(stage.run)).toMatchObject([{ budgetMicros: null }]);
  });
});

describe('iterations', () => {
  test('N executions happen, the next one is refused, and more of them let the run go on', () => {
    const stage = new Stage(LOOP, { maxIterations: 3 }).plays(again(0), again(0), again(0));
    expect(stage.run).toMatchObject({ status: 'running', iterations: 3 });
    stage.begin('main');
    expect(stage.run).toMatchObject({ status: 'iteration_limit', iterations: 3 });
    expect(stage.turns).toHaveLength(3);
    stage.resume({ maxIterations: 4 }).plays('<result>x</result>');
    expect(stage.run).toMatchObject({ status: 'completed', iterations: 4 });
  });

  test('a run that ends with its last execution has completed', () => {
    expect(new Stage(LOOP, { maxIterations: 1 }).plays('<result>x</result>').run.status).toBe('completed');
  });

  test('reminders and retries are not executions', () => {
    const stage = new Stage(LOOP, { maxIterations: 1 });
    stage
      .plays({ fail: { kind: 'transient', message: 'overloaded' } })
      .wake('main')
      .plays('no tag', '<result>x</result>');
    expect(stage.run).toMatchObject({ status: 'completed', iterations: 1 });
  });
});

describe('max_visits', () => {
  const book = { ...LOOP, rules: { 'LOOP.md': { maxVisits: 2 } } };

  test('stops the agent that enters the state once too often, and leaves its siblings alone', () => {
    const stage = new Stage(book).plays('<fork next="LOOP">WORK</fork>', again(0));
    stage.begin('main');
    expect(stage.agent().phase).toStrictEqual({ kind: 'limited', maxVisits: 2 });
    expect(stage.run.status).toBe('running');
    stage.take('main_work1', '<result>w</result>');
    expect(stage.run.status).toBe('iteration_limit');
  });

  test('is counted for each agent by itself', () => {
    const stage = new Stage(book).plays('<fork next="LOOP">LOOP</fork>').take('main_loop1', again(0));
    stage.plays('<result></result>').take('main_loop1', '<result></result>');
    expect(stage.run.status).toBe('completed');
  });

  test('a resume asks the file again, which may allow more by then', () => {
    const rules = { 'LOOP.md': { maxVisits: 1 } };
    const stage = new Stage({ ...LOOP, rules }).plays(again(0));
    stage.begin('main');
    rules['LOOP.md'].maxVisits = 2;
    stage.resume().plays('<result>x</result>');
    expect(stage.run.status).toBe('completed');
  });
});

describe('parallel turns', () => {
  test('no more Claude turns run at once than allowed; scripts are never held back', () => {
    const stage = new Stage(LOOP, { parallel: 2 });
    stage.plays(`${'<fork next="LOOP">WORK</fork>'.repeat(3)}${'<fork next="LOOP">FREE</fork>'.repeat(3)}`);
    expect(due(stage.run).map(({ kind }) => kind)).toStrictEqual(['script', 'script', 'script', 'claude', 'claude']);
  });

  test('who has waited longest starts first, so that nobody starves', () => {
    const stage = new Stage(LOOP, { parallel: 1 }).plays('<fork next="LOOP">WORK</fork>', again(0));
    expect(due(stage.run).map(({ agent }) => agent)).toStrictEqual(['main_work1']);
  });
});
