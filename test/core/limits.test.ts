import { describe, expect, test } from 'vitest';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver, usd } from './run-driver.ts';

const LOOP = { files: ['LOOP.md', 'WORK.md', 'FREE.sh'] };
const again = (dollars: number) => ({ text: '<goto>LOOP</goto>', cost: usd(dollars) });

describe('budget', () => {
  test('if it is used up no transition is followed, and the run ends', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000 }).answer(again(0.6), again(0.6));
    expect(driver.run.status).toBe('budget_exceeded');
    expect(driver.run.ledger.spentMicros).toBe(1_200_000);
    expect(due(driver.run)).toStrictEqual([]);
    expect(driver.eventsOf('transition')).toHaveLength(1);
    expect(driver.eventsOf('answer_withheld')).toHaveLength(1);
    expect(driver.eventsOf('run_ended')).toMatchObject([{ status: 'budget_exceeded', spentMicros: 1_200_000 }]);
  });

  test('even a result is not followed: it does not return to the caller', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000 });
    driver.answer('<call return="WORK">LOOP</call>', { text: '<result>r</result>', cost: usd(1) });
    expect(driver.run.status).toBe('budget_exceeded');
    expect(driver.agent()).toMatchObject({ state: 'LOOP.md', phase: { kind: 'withheld' } });
  });

  test('a resume with a higher budget follows the kept answer; without, it ends as before', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000 }).answer(again(1)).resume();
    expect(driver.run.status).toBe('budget_exceeded');
    driver.resume({ budgetMicros: 5_000_000 });
    expect(driver.run.status).toBe('running');
    expect(driver.eventsOf('transition')).toMatchObject([{ tag: 'goto', to: 'LOOP.md', costMicros: 1_000_000 }]);
    driver.answer('<result>ok</result>');
    expect(driver.run.status).toBe('completed');
  });

  test('running turns finish and are counted, but no answer is followed, not even of a script', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000 });
    driver.answer('<fork next="LOOP">WORK</fork><fork next="LOOP">FREE</fork>');
    for (const agent of ['main', 'main_work1', 'main_free2']) driver.begin(agent);
    driver.reply('main', again(1));
    expect(driver.run.status).toBe('running');
    driver
      .reply('main_work1', { text: '<result>w</result>', cost: usd(0.5) })
      .reply('main_free2', '<result>f</result>');
    expect(driver.run).toMatchObject({ status: 'budget_exceeded', ledger: { spentMicros: 1_500_000 } });
    driver.resume({ budgetMicros: 2_000_000 });
    expect(driver.run.agents.map(({ phase }) => phase.kind)).toStrictEqual(['ready', 'ended', 'ended']);
  });

  test('a turn that reaches it continues its own conversation after the resume', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000 });
    driver.answer({ fail: { kind: 'budget', message: 'budget reached' }, progress: 'answer', cost: usd(1.1) });
    expect(driver.run.status).toBe('budget_exceeded');
    driver.resume({ budgetMicros: 2_000_000 });
    expect(due(driver.run)).toMatchObject([{ kind: 'claude', prompt: { kind: 'continue' }, budgetMicros: 900_000 }]);
    driver.begin('main');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1']);
  });

  test('the caps of all running turns together never exceed what is left', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000, parallel: 4 });
    driver.answer({ text: '<fork next="LOOP">WORK</fork>'.repeat(9), cost: usd(0.2) });
    const caps = due(driver.run).map((turn) => (turn.kind === 'claude' ? [turn.agent, turn.budgetMicros] : []));
    // Twice what LOOP has cost is more than an equal share; the others of 800,000 share the rest.
    expect(caps).toStrictEqual([
      ['main', 400_000],
      ['main_work1', 133_333],
      ['main_work2', 133_333],
      ['main_work3', 133_334],
    ]);
    for (const agent of ['main', 'main_work1', 'main_work2', 'main_work3']) driver.begin(agent);
    expect(
      due(driver.run).map((turn) => (turn.kind === 'claude' ? [turn.agent, turn.budgetMicros] : [])),
    ).toStrictEqual(caps);
  });

  test('a turn waits until the average cost of its state is free, and those behind it wait, too', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000 });
    driver.answer({ text: '<fork next="LOOP">LOOP</fork><fork next="LOOP">WORK</fork>', cost: usd(0.3) });
    expect(due(driver.run)).toMatchObject([{ agent: 'main', budgetMicros: 600_000 }]);
    driver.begin('main');
    expect(due(driver.run)).toMatchObject([{ agent: 'main', record: { capMicros: 600_000 } }]);
    driver.reply('main', { text: '<result>m</result>', cost: usd(0.1) });
    expect(due(driver.run)).toMatchObject([
      { agent: 'main_loop1', budgetMicros: 400_000 },
      { agent: 'main_work2', budgetMicros: 200_000 },
    ]);
  });

  test('if less is left than a state has cost, one turn gets all of it', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000 });
    driver.answer({ text: '<fork next="LOOP">WORK</fork>', cost: usd(0.9) });
    expect(due(driver.run)).toMatchObject([{ agent: 'main', budgetMicros: 100_000 }]);
  });

  test('no turn starts beside one without a cap, which an earlier version or a run without a budget started', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: null });
    driver.answer('<fork next="LOOP">WORK</fork>');
    driver.begin('main');
    driver.resume({ budgetMicros: 1_000_000 });
    expect(due(driver.run)).toMatchObject([{ agent: 'main', record: { capMicros: null } }]);
    driver.reply('main', '<result>m</result>');
    expect(due(driver.run)).toMatchObject([{ agent: 'main_work1', budgetMicros: 1_000_000 }]);
  });

  test('a turn that reaches only its own share continues later, and does not end the run', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: 1_000_000 });
    driver.answer({ text: '<fork next="LOOP">WORK</fork>', cost: usd(0.1) });
    driver.begin('main_work1');
    driver.reply('main_work1', { fail: { kind: 'budget', message: 'share used' }, progress: 'answer', cost: usd(0.2) });
    expect(driver.run).toMatchObject({ status: 'running', stop: null });
    expect(driver.agent('main_work1').phase).toMatchObject({ kind: 'ready', prompt: { kind: 'continue' } });
    driver.answer('<result>m</result>').runTurn('main_work1', {
      fail: { kind: 'budget', message: 'no share at all' },
      progress: 'answer',
      cost: usd(0),
    });
    expect(driver.run.stop).toStrictEqual({ kind: 'budget' });
  });

  test('a turn that never ran does not lower the average cost of a state', () => {
    const driver = new RunDriver(LOOP).answer({ fail: { kind: 'lost', message: 'gone' } }, again(1));
    expect(driver.run.ledger).toMatchObject({ turns: 1, states: { 'LOOP.md': { turns: 1, micros: 1_000_000 } } });
  });

  test.each(['budgetMicros', 'parallel', 'maxIterations'])('%s of zero is no limit', (limit) => {
    const driver = new RunDriver(LOOP, { [limit]: 0 }).answer(again(1));
    expect(due(driver.run)).toHaveLength(1);
  });

  test('without a budget no turn is held back', () => {
    const driver = new RunDriver(LOOP, { budgetMicros: null }).answer(again(1000));
    expect(due(driver.run)).toMatchObject([{ budgetMicros: null }]);
  });
});

describe('iterations', () => {
  test('N executions are allowed, the next one is refused, and a higher limit continues the run', () => {
    const driver = new RunDriver(LOOP, { maxIterations: 3 }).answer(again(0), again(0), again(0));
    expect(driver.run).toMatchObject({ status: 'running', iterations: 3 });
    driver.begin('main');
    expect(driver.run).toMatchObject({ status: 'iteration_limit', iterations: 3 });
    expect(driver.turns).toHaveLength(3);
    driver.resume({ maxIterations: 4 }).answer('<result>x</result>');
    expect(driver.run).toMatchObject({ status: 'completed', iterations: 4 });
  });

  test('a run that ends with its last execution has completed', () => {
    expect(new RunDriver(LOOP, { maxIterations: 1 }).answer('<result>x</result>').run.status).toBe('completed');
  });

  test('reminders and retries are not executions', () => {
    const driver = new RunDriver(LOOP, { maxIterations: 1 });
    driver
      .answer({ fail: { kind: 'transient', message: 'overloaded' } })
      .wake('main')
      .answer('no tag', '<result>x</result>');
    expect(driver.run).toMatchObject({ status: 'completed', iterations: 1 });
  });
});

describe('max_visits', () => {
  const workflow = { ...LOOP, rules: { 'LOOP.md': { maxVisits: 2 } } };

  test('stops an agent that enters the state too often, and does not affect its siblings', () => {
    const driver = new RunDriver(workflow).answer('<fork next="LOOP">WORK</fork>', again(0));
    driver.begin('main');
    expect(driver.agent().phase).toStrictEqual({ kind: 'limited', maxVisits: 2 });
    expect(driver.run.status).toBe('running');
    driver.runTurn('main_work1', '<result>w</result>');
    expect(driver.run.status).toBe('iteration_limit');
  });

  test('is counted per agent', () => {
    const driver = new RunDriver(workflow).answer('<fork next="LOOP">LOOP</fork>').runTurn('main_loop1', again(0));
    driver.answer('<result></result>').runTurn('main_loop1', '<result></result>');
    expect(driver.run.status).toBe('completed');
  });

  test('is read again at a resume, so that the file may allow more by then', () => {
    const rules = { 'LOOP.md': { maxVisits: 1 } };
    const driver = new RunDriver({ ...LOOP, rules }).answer(again(0));
    driver.begin('main');
    rules['LOOP.md'].maxVisits = 2;
    driver.resume().answer('<result>x</result>');
    expect(driver.run.status).toBe('completed');
  });
});

describe('parallel turns', () => {
  test('no more Claude turns run at once than allowed; scripts are never held back', () => {
    const driver = new RunDriver(LOOP, { parallel: 2 });
    driver.answer(`${'<fork next="LOOP">WORK</fork>'.repeat(3)}${'<fork next="LOOP">FREE</fork>'.repeat(3)}`);
    expect(due(driver.run).map(({ kind }) => kind)).toStrictEqual(['script', 'script', 'script', 'claude', 'claude']);
  });

  test('the agent that has waited longest starts first, so that none starves', () => {
    const driver = new RunDriver(LOOP, { parallel: 1 }).answer('<fork next="LOOP">WORK</fork>', again(0));
    expect(due(driver.run).map(({ agent }) => agent)).toStrictEqual(['main_work1']);
  });

  test('agents that have begun start before those that have not', () => {
    const driver = new RunDriver(LOOP, { parallel: 1 }).answer('<fork next="FREE">WORK</fork>'.repeat(3));
    driver.runTurn('main_work1', '<goto>LOOP</goto>');
    expect(prompts(driver)).toStrictEqual(['main_work1']);
  });

  test('an agent that has only run a script has not begun', () => {
    const driver = new RunDriver(LOOP, { parallel: 1 }).answer(
      '<fork next="FREE">FREE</fork><fork next="FREE">WORK</fork>',
    );
    driver.runTurn('main_free1', '<goto>LOOP</goto>');
    expect(prompts(driver)).toStrictEqual(['main_work2']);
  });

  test('a parent and its workers take precedence alternately', () => {
    const driver = new RunDriver(LOOP, { parallel: 1 });
    const starts: string[] = [];
    for (let count = 0; count < 40; count += 1) {
      const [agent = 'nobody'] = prompts(driver);
      starts.push(agent);
      driver.runTurn(agent, agent === 'main' ? '<fork next="LOOP">WORK</fork>' : '<result>done</result>');
    }
    expect(starts.slice(0, 8).map((agent) => agent.replace(/\d+/, ''))).toStrictEqual([
      'main',
      'main',
      'main_work',
      'main_work',
      'main',
      'main',
      'main_work',
      'main_work',
    ]);
    expect(starts.filter((agent) => agent === 'main')).toHaveLength(20);
  });

  test('an endless agent does not prevent the first turn of another', () => {
    const driver = new RunDriver(LOOP, { parallel: 1 }).answer(
      '<fork next="FREE">LOOP</fork><fork next="FREE">WORK</fork>',
    );
    let turns = 0;
    for (; prompts(driver)[0] === 'main_loop1'; turns += 1) driver.runTurn('main_loop1', again(0));
    expect(prompts(driver)).toStrictEqual(['main_work2']);
    expect(turns).toBe(32);
  });
});

const prompts = (driver: RunDriver): readonly string[] =>
  due(driver.run).flatMap((turn) => (turn.kind === 'claude' ? [turn.agent] : []));

describe('forks of one answer', () => {
  const forks = (count: number): string => '<fork next="LOOP">WORK</fork>'.repeat(count);

  test('are as many as max_forks allows; more are refused as a whole, and the agent is reminded', () => {
    const driver = new RunDriver(LOOP, { maxForks: 3 }).answer(forks(4));
    expect(driver.run.agents).toHaveLength(1);
    const message = 'it starts 4 workers, and one answer may start at most 3 (`max_forks`)';
    expect(driver.eventsOf('reminded')).toMatchObject([{ problem: 'too_many_forks', message }]);
    driver.answer(forks(3));
    expect(driver.run.agents).toHaveLength(4);
  });

  test('of a script pause it with its answer, which a resume with a higher limit follows', () => {
    const driver = new RunDriver(LOOP, { maxForks: 3 }).answer('<goto>FREE</goto>', forks(4));
    expect(driver.agent().phase).toMatchObject({
      kind: 'paused',
      why: 'unfollowable',
      message: expect.stringContaining(
        '`resume` with a higher `--max-forks` continues without running the script again',
      ),
    });
    driver.resume({ maxForks: 4 });
    expect(driver.run.agents).toHaveLength(5);
  });

  test('are 1,000 unless an option says otherwise', () => {
    expect(new RunDriver(LOOP).answer(forks(1_001)).run.agents).toHaveLength(1);
    expect(new RunDriver(LOOP, { maxForks: null }).answer(forks(1_001)).run.agents).toHaveLength(1_002);
  });
});

describe('scripts at once', () => {
  const forked = (parallelScripts: number | null): RunDriver =>
    new RunDriver(LOOP, { parallelScripts }).answer('<fork next="LOOP">FREE</fork>'.repeat(4));
  const scriptsDue = ({ run }: RunDriver): readonly string[] =>
    due(run).flatMap((turn) => (turn.kind === 'script' && turn.record === null ? [turn.agent] : []));

  test('are as many as parallel_scripts allows; the others follow in order', () => {
    const driver = forked(2);
    expect(scriptsDue(driver)).toStrictEqual(['main_free1', 'main_free2']);
    for (const agent of ['main_free1', 'main_free2']) driver.begin(agent);
    expect(scriptsDue(driver)).toStrictEqual([]);
    driver.reply('main_free2', '<goto>FREE</goto>');
    expect(scriptsDue(driver)).toStrictEqual(['main_free3']);
  });

  test('take no place from prompts', () => {
    const driver = forked(1);
    driver.begin('main_free1');
    expect(due(driver.run)).toMatchObject([{ agent: 'main_free1' }, { kind: 'claude', agent: 'main' }]);
  });

  test('are all of them without a limit', () => {
    expect(scriptsDue(forked(null))).toHaveLength(4);
  });
});
