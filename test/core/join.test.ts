import { describe, expect, test } from 'vitest';
import type { WorkerResult } from '../../src/core/joins/join-results.ts';
import { changeOf } from '../../src/core/run/change.ts';
import type { Run } from '../../src/core/run/run.ts';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver, usd } from './run-driver.ts';

const files = ['START.sh', 'W.sh', 'P.md', 'MERGE.sh', 'LATE.sh', 'READ.md'];
const workflow = { files, rules: { 'P.md': { maxVisits: 2 } } };

/** A run in which `main` has answered this. */
const started = (answer: string) => new RunDriver(workflow).answer(answer);

/** What the turn that is due for an agent has in hand: status and result or error of each worker. */
const resultsOf = ({ run }: RunDriver, agent = 'main'): readonly string[] | undefined =>
  turnOf(run, agent)?.results?.workers.map(summarize);

const turnOf = (run: Run, agent: string) =>
  due(run).find((turn) => turn.kind !== 'sleep' && turn.agent === agent) as
    | { readonly results: { readonly workers: readonly WorkerResult[]; readonly file: string | null } | null }
    | undefined;

const summarize = ({ agent, status, result, error }: WorkerResult): string => `${agent} ${status}: ${result ?? error}`;

const warningsOf = (driver: RunDriver) => driver.eventsOf('warning').map(({ message }) => message);

describe('a join', () => {
  test('that a resume follows keeps the workers that it has taken note of from continuing', () => {
    const driver = new RunDriver(workflow, { budgetMicros: 1_000_000 }).answer('<fork next="READ">P</fork>');
    driver.runTurn('main_p1', '<goto>P</goto>').runTurn('main_p1', '<goto>P</goto>');
    driver.begin('main_p1');
    expect(driver.agent('main_p1').phase.kind).toBe('limited');
    driver.runTurn('main', { text: '<join>MERGE</join>', cost: usd(2) });
    expect(driver.agent().phase.kind).toBe('withheld');
    driver.resume({ budgetMicros: null });
    expect(driver.agent('main_p1').phase.kind).toBe('limited');
    expect(driver.eventsOf('agent_resumed').map(({ agent }) => agent)).toStrictEqual(['main']);
  });

  test('waits for all workers, and hands their results over in the order of the forks', () => {
    const driver = started('<fork item="a">W</fork><fork item="b">W</fork><join>MERGE</join>');
    expect(driver.agent()).toMatchObject({
      state: 'MERGE.sh',
      phase: { kind: 'joining', workers: 2, done: 0, wanted: 2 },
    });
    driver.runTurn('main_w2', '<result>two</result>');
    expect(turnOf(driver.run, 'main')).toBeUndefined();
    driver.runTurn('main_w1', '<result>one</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w1 ended: one', 'main_w2 ended: two']);
    expect(driver.eventsOf('joined')).toMatchObject([
      {
        agent: 'main',
        to: 'MERGE.sh',
        timedOut: false,
        workers: { ended: 2, failed: 0, limited: 0, cancelled: 0 },
        left: 0,
      },
    ]);
    driver.answer('<result>both</result>');
    expect(driver.run.status).toBe('completed');
  });

  test('continues in the same conversation', () => {
    const driver = new RunDriver({ files: ['START.md', 'W.sh', 'MERGE.md'] });
    driver
      .answer('<fork>W</fork><join>MERGE</join>')
      .runTurn('main_w1', '<result></result>')
      .answer('<result></result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1']);
  });

  test('counts workers that are done before it begins', () => {
    const driver = started('<fork>W</fork><fork>W</fork><goto>LATE</goto>');
    driver
      .runTurn('main_w1', '<result>1</result>')
      .runTurn('main_w2', '<result>2</result>')
      .answer('<join>MERGE</join>');
    expect(resultsOf(driver)).toStrictEqual(['main_w1 ended: 1', 'main_w2 ended: 2']);
  });

  test('with `wait="any"` takes the first, and a later one the others: every worker is joined once', () => {
    const driver = started('<fork>W</fork><fork>W</fork><fork>W</fork><join wait="any">MERGE</join>');
    driver.runTurn('main_w2', '<result>2</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w2 ended: 2']);
    expect(driver.eventsOf('joined')).toMatchObject([{ left: 2 }]);
    driver
      .answer('<join>LATE</join>')
      .runTurn('main_w1', '<result>1</result>')
      .runTurn('main_w3', '<result>3</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w1 ended: 1', 'main_w3 ended: 3']);
  });

  test('with a number waits for that many', () => {
    const driver = started('<fork>W</fork><fork>W</fork><fork>W</fork><join wait="2">MERGE</join>');
    driver.runTurn('main_w3', '<result>3</result>');
    expect(driver.agent().phase.kind).toBe('joining');
    driver.runTurn('main_w1', '<result>1</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w1 ended: 1', 'main_w3 ended: 3']);
  });

  test('with a group waits for the workers of that group only', () => {
    const driver = started(
      '<fork group="a">W</fork><fork group="b">W</fork><fork>W</fork><join group="b">MERGE</join>',
    );
    driver.runTurn('main_w1', '<result>1</result>').runTurn('main_w3', '<result>3</result>');
    expect(driver.agent().phase.kind).toBe('joining');
    driver.runTurn('main_w2', '<result>2</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w2 ended: 2']);
  });

  test('is about its own workers, not theirs', () => {
    const driver = started('<fork>W</fork><join>MERGE</join>').runTurn('main_w1', '<fork>W</fork><goto>LATE</goto>');
    driver.runTurn('main_w1', '<result>parent</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w1 ended: parent']);
    expect(driver.agent('main_w1_w1').joinedBy).toBeNull();
  });

  test('of a worker waits for the workers of that worker', () => {
    const driver = started('<fork>W</fork><join>MERGE</join>').runTurn('main_w1', '<fork>W</fork><join>LATE</join>');
    driver.runTurn('main_w1_w1', '<result>deep</result>');
    expect(resultsOf(driver, 'main_w1')).toStrictEqual(['main_w1_w1 ended: deep']);
    driver.runTurn('main_w1', '<result>up</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w1 ended: up']);
  });

  test('without workers continues at once, with a warning', () => {
    const driver = started('<join>MERGE</join>');
    expect(resultsOf(driver)).toStrictEqual([]);
    expect(warningsOf(driver)).toStrictEqual(['there is nothing to join: it has no worker that was not joined before']);
    driver.answer('<join group="g">LATE</join>');
    expect(warningsOf(driver).at(-1)).toBe(
      'there is nothing to join: no worker has the group `g` that was not joined before',
    );
    expect(driver.answer('<result></result>').run.status).toBe('completed');
  });

  test('for more workers than there are is an answer to be given again', () => {
    const driver = new RunDriver({ files: ['START.md', 'W.sh', 'MERGE.md'] });
    driver.answer('<fork>W</fork><join wait="3">MERGE</join>');
    expect(driver.eventsOf('reminded')).toMatchObject([
      { problem: 'bad_attribute', message: '`<join>MERGE</join>` (line 1): it waits for 3 workers, and there is 1' },
    ]);
  });

  test('hands its `input` over', () => {
    const driver = started('<fork>W</fork><join input="the plan">MERGE</join>').runTurn('main_w1', '<result></result>');
    driver.answer('<result></result>');
    expect(driver.turns.at(-1)).toMatchObject({ agent: 'main', state: 'MERGE.sh', input: 'the plan' });
  });

  test('can be the only transition of a policy, which needs no tag', () => {
    const policy = [{ tag: 'join', target: 'MERGE', attributes: {} }] as const;
    const driver = new RunDriver({ files: ['A.sh', 'W.sh', 'B.md', 'MERGE.sh'], rules: { 'B.md': { policy } } });
    driver.answer('<fork>W</fork><goto>B</goto>').answer('All under way.');
    expect(driver.agent()).toMatchObject({ state: 'MERGE.sh', phase: { kind: 'joining' } });
  });

  test('keeps results only for the state it leads to', () => {
    const driver = started('<fork>W</fork><join>MERGE</join>').runTurn('main_w1', '<result>1</result>');
    driver.answer('<goto>LATE</goto>');
    expect(turnOf(driver.run, 'main')?.results).toBeNull();
  });
});

describe('a failed worker', () => {
  const failing = () =>
    started('<fork>W</fork><fork>W</fork><join>MERGE</join>')
      .runTurn('main_w1', { fail: { kind: 'script', message: 'exit code 3' } })
      .runTurn('main_w2', '<result>2</result>');

  test('is data for the join, and does not make the run fail', () => {
    const driver = failing();
    expect(resultsOf(driver)).toStrictEqual(['main_w1 failed: W.sh: exit code 3', 'main_w2 ended: 2']);
    expect(driver.answer('<result></result>').run.status).toBe('completed');
  });

  test('is left alone by a resume with retry once it was joined', () => {
    const driver = failing();
    driver.apply({ kind: 'stopped', at: 5000, by: 'stopped' });
    driver.resume({}, true);
    expect(driver.agent('main_w1').phase.kind).toBe('failed');
    driver.answer('<result></result>');
    expect(driver.resume({}, true).eventsOf('run_resumed')).toHaveLength(1);
    expect(driver.run.status).toBe('completed');
  });

  test('makes the run fail if nobody joins it', () => {
    const driver = started('<fork>W</fork><goto>MERGE</goto>');
    driver.runTurn('main_w1', { fail: { kind: 'script', message: 'no' } }).answer('<result></result>');
    expect(driver.run.status).toBe('failed');
  });
});

describe('a worker that is not done', () => {
  test('counts if `max_visits` stopped it, and a resume leaves it alone then', () => {
    const driver = started('<fork>P</fork><join>MERGE</join>');
    driver.runTurn('main_p1', '<goto>P</goto>').runTurn('main_p1', '<goto>P</goto>').begin('main_p1');
    expect(resultsOf(driver)).toStrictEqual([
      'main_p1 limited: it has entered its state 2 times, as often as `max_visits` permits',
    ]);
    driver.apply({ kind: 'stopped', at: 5000, by: 'stopped' });
    driver.resume();
    expect(driver.agent('main_p1').phase.kind).toBe('limited');
    expect(driver.answer('<result></result>').run.status).toBe('completed');
  });

  test('keeps the agent waiting while it is paused, and the run says so', () => {
    const driver = started('<fork>W</fork><join>MERGE</join>');
    driver.runTurn('main_w1', { fail: { kind: 'interrupted', message: 'killed' } });
    expect([driver.run.status, driver.agent().phase.kind]).toStrictEqual(['paused', 'joining']);
    driver.resume({}, true).runTurn('main_w1', '<result>again</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w1 ended: again']);
  });

  test('keeps the agent waiting while its answer is withheld', () => {
    const driver = new RunDriver({ files: ['START.sh', 'P.md', 'MERGE.sh'] }, { budgetMicros: 1_000_000 });
    driver.answer('<fork>P</fork><join>MERGE</join>');
    driver.runTurn('main_p1', { text: '<result>dear</result>', cost: usd(2) });
    expect([driver.run.status, driver.agent().phase.kind]).toStrictEqual(['budget_exceeded', 'joining']);
    driver.resume({ budgetMicros: 9_000_000 });
    expect(resultsOf(driver)).toStrictEqual(['main_p1 ended: dear']);
  });
});

describe('a timeout', () => {
  const ANSWER = '<fork>W</fork><fork>W</fork><join timeout="10m" timeout_next="LATE">MERGE</join>';

  test('leads to `timeout_next` with what there is; the others can be joined later', () => {
    const driver = started(ANSWER).runTurn('main_w2', '<result>2</result>');
    expect(due(driver.run).filter(({ kind }) => kind === 'sleep')).toMatchObject([{ agent: 'main', why: 'join' }]);
    driver.wake('main');
    expect(driver.agent().state).toBe('LATE.sh');
    expect(resultsOf(driver)).toStrictEqual(['main_w2 ended: 2']);
    expect(driver.eventsOf('joined')).toMatchObject([{ state: 'MERGE.sh', to: 'LATE.sh', timedOut: true, left: 1 }]);
    driver.answer('<join>MERGE</join>').runTurn('main_w1', '<result>1</result>');
    expect(resultsOf(driver)).toStrictEqual(['main_w1 ended: 1']);
  });

  test('does not fire before its time', () => {
    const driver = started(ANSWER);
    driver.apply({ kind: 'woke', at: 2000, agent: 'main' });
    expect(driver.agent().phase.kind).toBe('joining');
  });

  test('does not matter once the workers are done', () => {
    const driver = started(ANSWER).runTurn('main_w1', '<result></result>').runTurn('main_w2', '<result></result>');
    driver.apply({ kind: 'woke', at: 9_000_000, agent: 'main' });
    expect(driver.agent()).toMatchObject({ state: 'MERGE.sh', phase: { kind: 'ready' } });
  });

  test('that passed while nobody looked is due at once', () => {
    const driver = started(ANSWER);
    driver.apply({ kind: 'stopped', at: 2000, by: 'stopped' });
    expect(driver.run.status).toBe('paused');
    driver.resume();
    const [sleep] = due(driver.run).filter((turn) => turn.kind === 'sleep');
    expect(sleep?.untilMs).toBeLessThan(1_000_000);
    driver.wake('main');
    expect(driver.agent().state).toBe('LATE.sh');
  });

  test.each([
    ['timeout="10m"', '`timeout` needs `timeout_next="STATE"`, which says where to continue then'],
    ['timeout_next="LATE"', '`timeout_next` needs a `timeout`'],
    [
      'timeout="soon" timeout_next="LATE"',
      '`timeout` must be a number of seconds, or a duration such as 90s, 10m or 24h, not "soon"',
    ],
    ['wait="0"', '`wait` can be "all", "any" or a number of workers, not "0"'],
    ['cancel="yes"', '`cancel` can be "true" or "false", not "yes"'],
  ])('and its like must be right: %s', (attributes, message) => {
    const driver = started(`<fork>W</fork><join ${attributes}>MERGE</join>`);
    expect(driver.eventsOf('agent_failed')[0]?.message).toContain(message);
  });
});

describe('`cancel="true"`', () => {
  test('ends workers that are not needed any more: the agent continues when their turns have ended', () => {
    const driver = started('<fork>W</fork><fork>P</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.begin('main_p2');
    driver.runTurn('main_w1', '<result>1</result>');
    expect(['main_p2', 'main_w3', 'main'].map((id) => driver.agent(id).phase.kind)).toStrictEqual([
      'cancelling',
      'cancelled',
      'joining',
    ]);
    driver.reply('main_p2', { fail: { kind: 'stopped', message: 'ended' }, cost: usd(0.5) });
    expect(resultsOf(driver)).toStrictEqual([
      'main_w1 ended: 1',
      'main_p2 cancelled: the join of main did not need it any more',
      'main_w3 cancelled: the join of main did not need it any more',
    ]);
    expect(driver.run.ledger.spentMicros).toBe(500_000);
    expect(driver.agent('main_p2').costMicros).toBe(500_000);
    expect(driver.answer('<result></result>').run.status).toBe('completed');
  });

  test('ignores the answer of a turn that was quicker', () => {
    const driver = started('<fork>W</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.begin('main_w2');
    driver.runTurn('main_w1', '<result>1</result>').reply('main_w2', '<goto>LATE</goto>');
    expect(driver.agent('main_w2')).toMatchObject({ state: 'W.sh', phase: { kind: 'cancelled', by: 'main' } });
  });

  test('ends the workers of those workers, too', () => {
    const driver = started('<fork>W</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.runTurn('main_w2', '<fork>W</fork><goto>LATE</goto>').begin('main_w2_w1');
    driver.runTurn('main_w1', '<result>1</result>');
    expect(driver.agent('main_w2').phase.kind).toBe('cancelled');
    expect(driver.agent('main_w2_w1').phase.kind).toBe('cancelling');
    driver.reply('main_w2_w1', '<result></result>');
    expect(driver.agent().phase.kind).toBe('ready');
  });

  test('at a timeout ends all that are left', () => {
    const driver = started(
      '<fork>W</fork><fork>W</fork><join timeout="1m" timeout_next="LATE" cancel="true">MERGE</join>',
    );
    driver.begin('main_w1');
    driver.wake('main').reply('main_w1', '<result></result>');
    expect(driver.agent().state).toBe('LATE.sh');
    expect(resultsOf(driver)?.map((text) => text.split(':')[0])).toStrictEqual([
      'main_w1 cancelled',
      'main_w2 cancelled',
    ]);
  });

  test('a turn that was about to begin comes too late', () => {
    const driver = started('<fork>W</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.runTurn('main_w1', '<result>1</result>');
    const rules = { policy: [], maxVisits: null };
    const { run } = driver.apply({ kind: 'began', at: 3000, agent: 'main_w2', sessionId: 's', rules, warnings: [] });
    expect(run.agents[2]?.phase.kind).toBe('cancelled');
  });

  test('a signal that comes too late does not count as the end of another turn', () => {
    const driver = started('<fork>W</fork><fork>W</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.begin('main_w3');
    driver.runTurn('main_w1', '<result>1</result>');
    driver.apply({ kind: 'woke', at: 3000, agent: 'main_w2' });
    expect(driver.agent().phase).toMatchObject({ kind: 'joining', ending: 1 });
    driver.reply('main_w3', '<result></result>');
    expect(driver.agent().phase.kind).toBe('ready');
  });

  test('waits for turns that the join of a worker was ending', () => {
    const driver = started('<fork>W</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.runTurn('main_w2', '<fork>W</fork><fork>W</fork><join wait="any" cancel="true">LATE</join>');
    driver.begin('main_w2_w2');
    driver.runTurn('main_w2_w1', '<result></result>');
    expect(driver.agent('main_w2_w2').phase).toMatchObject({ kind: 'cancelling', by: 'main_w2' });
    driver.runTurn('main_w1', '<result>1</result>');
    expect(driver.agent().phase).toMatchObject({ kind: 'joining', ending: 1 });
    driver.reply('main_w2_w2', '<result></result>');
    expect(driver.agent().phase.kind).toBe('ready');
    expect(driver.eventsOf('cancelling').map(({ agent }) => agent)).toStrictEqual(['main_w2_w2']);
  });

  test('waits for the turns that it ends although a worker leaves its worktree meanwhile', () => {
    const driver = started(
      '<fork>W</fork><fork>W</fork><fork worktree="auto">W</fork><join wait="any" cancel="true">MERGE</join>',
    );
    const place = { path: '/w/tree', branch: 'b', base: 'c', repository: '/w/.git' };
    driver.apply({ kind: 'worktree_made', at: 2000, agent: 'main_w3', place, cwd: '/w/tree' });
    driver.runTurn('main_w3', '<result>3</result>').begin('main_w2');
    driver.runTurn('main_w1', '<result>1</result>');
    const content = { kept: false, commits: 0, dirty: false };
    driver.apply({ kind: 'worktree_closed', at: 3000, agent: 'main_w3', content });
    expect(driver.agent().phase).toMatchObject({ kind: 'joining', ending: 1 });
    driver.reply('main_w2', '<result></result>');
    expect(resultsOf(driver)).toStrictEqual([
      'main_w1 ended: 1',
      'main_w2 cancelled: the join of main did not need it any more',
      'main_w3 ended: 3',
    ]);
  });

  test('a turn that is being ended is named again after a crash', () => {
    const driver = started('<fork>W</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.begin('main_w2');
    driver.runTurn('main_w1', '<result>1</result>');
    expect(due(driver.run)).toMatchObject([{ agent: 'main_w2', record: { number: 1 } }]);
    expect(driver.run.status).toBe('running');
  });
});

describe('many workers', () => {
  const COUNT = 60;

  function fanOut() {
    const driver = new RunDriver(workflow, {}, null, { kept: 5, batch: 5 });
    const text = Array.from({ length: COUNT }, (_, index) => `item ${index + 1}`).join('\n');
    driver.answer({
      text: '<fork-each in="items.txt">W</fork-each><join>MERGE</join>',
      files: { 'items.txt': { text } },
    });
    return driver;
  }

  test('are all in the results, although most of them would have left the run', () => {
    const driver = fanOut();
    for (let index = 1; index <= COUNT; index++) {
      const reply =
        index % 10 === 0 ? ({ fail: { kind: 'script', message: 'no' } } as const) : `<result>${index}</result>`;
      driver.runTurn(`main_w${index}`, reply);
    }
    const workers = turnOf(driver.run, 'main')?.results?.workers ?? [];
    expect(workers.map(({ agent }) => agent)).toStrictEqual(
      Array.from({ length: COUNT }, (_, index) => `main_w${index + 1}`),
    );
    expect(workers.filter(({ status }) => status === 'failed')).toHaveLength(COUNT / 10);
    expect(driver.run.archive).toStrictEqual({ ended: 0 });
    driver
      .answer('<goto>LATE</goto>')
      .answer('<fork>W</fork><join>MERGE</join>')
      .runTurn('main_w61', '<result></result>');
    expect(driver.answer('<result></result>').run.status).toBe('completed');
  });

  test('cost a step each whose line in the journal does not grow', () => {
    const driver = fanOut();
    driver.begin('main_w1');
    const before = driver.run;
    const step = driver.apply({
      kind: 'answered',
      at: 1,
      agent: 'main_w1',
      text: '<result></result>',
      cost: null,
      denials: [],
      folders: {},
      scope: { files, platform: 'unix' },
    });
    expect(changeOf(before, step).agents.map(({ id }) => id)).toStrictEqual(['main', 'main_w1']);
    expect(JSON.stringify(changeOf(before, step)).length).toBeLessThan(2_000);
  });
});
