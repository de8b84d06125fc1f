import { describe, expect, test } from 'vitest';
import { formatJoinResults, type WorkerResult } from '../../src/core/joins/join-results.ts';
import type { WorktreeContent } from '../../src/core/run/worktree.ts';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver } from './run-driver.ts';

const files = ['START.sh', 'W.sh', 'P.md', 'MERGE.sh', 'LATE.sh'];
const workflow = { files, rules: { 'P.md': { maxVisits: 1 } } };
const started = (answer: string) => new RunDriver(workflow).answer(answer);
const FORK = '<fork worktree="auto">W</fork>';

const placeFor = (agent: string) => ({
  path: `/w/trees/${agent}`,
  branch: `raymond/run-1/${agent}`,
  base: 'c0ffee',
  repository: '/w/.git',
});

const make = (driver: RunDriver, agent: string) =>
  driver.apply({ kind: 'worktree_made', at: 5000, agent, place: placeFor(agent), cwd: `/w/trees/${agent}/sub` });

const close = (driver: RunDriver, agent: string, content: Partial<WorktreeContent> = {}) =>
  driver.apply({
    kind: 'worktree_closed',
    at: 6000,
    agent,
    content: { kept: false, commits: 0, dirty: false, ...content },
  });

const worktreeTurns = ({ run }: RunDriver) =>
  due(run).flatMap((turn) => (turn.kind === 'worktree' ? [[turn.agent, turn.isWanted, turn.place?.path ?? null]] : []));

const resultsOf = ({ run }: RunDriver): readonly WorkerResult[] =>
  due(run).flatMap((turn) => ('results' in turn && turn.agent === 'main' ? (turn.results?.workers ?? []) : []));

const kindsOf = (driver: RunDriver, agent: string) =>
  driver.events.flatMap((event) => ('agent' in event && event.agent === agent ? [event.kind] : []));

describe('the results of a join', () => {
  test('tell what a worker left in its worktree, in the file and in the list', () => {
    const driver = started(`${FORK}${FORK}<join>MERGE</join>`);
    for (const agent of ['main_w1', 'main_w2']) {
      make(driver, agent);
      driver.runTurn(agent, '<result>done</result>');
    }
    expect(driver.agent().phase.kind).toBe('joining');
    close(driver, 'main_w1', { kept: true, commits: 2, dirty: true });
    close(driver, 'main_w2');
    const [one, two] = resultsOf(driver);
    expect(one).toMatchObject({ status: 'ended', result: 'done', commits: 2, dirty: true });
    expect(one).toMatchObject({ branch: 'raymond/run-1/main_w1', worktree: '/w/trees/main_w1' });
    expect(two).toMatchObject({ status: 'ended', branch: null, worktree: null, commits: 0, dirty: false });
    expect(formatJoinResults({ workers: resultsOf(driver), file: null })).toBe(
      '- main_w1: ended, left 2 commits and uncommitted changes on the branch raymond/run-1/main_w1 in /w/trees/main_w1\n' +
        '  done\n- main_w2: ended\n  done',
    );
  });

  test('tell the same of a worker that failed, of one that reached a limit, and of one that was cancelled', () => {
    const driver = started(`${FORK}${FORK.replace('W<', 'P<')}${FORK}<join wait="2" cancel="true">MERGE</join>`);
    for (const agent of ['main_w1', 'main_p2', 'main_w3']) make(driver, agent);
    driver.begin('main_w3');
    driver.runTurn('main_w1', { fail: { kind: 'script', message: 'exit 1' } });
    expect(worktreeTurns(driver)).toStrictEqual([['main_w1', false, '/w/trees/main_w1']]);
    close(driver, 'main_w1', { kept: true, commits: 1 });
    driver.runTurn('main_p2', '<goto>P</goto>').begin('main_p2');
    close(driver, 'main_p2', { kept: true, dirty: true });
    expect(driver.agent('main_w3').phase.kind).toBe('cancelling');
    driver.reply('main_w3', '<result>late</result>');
    expect(driver.agent().phase).toMatchObject({ kind: 'joining', ending: 1 });
    close(driver, 'main_w3', { kept: true, commits: 3 });
    expect(resultsOf(driver)).toMatchObject([
      { agent: 'main_w1', status: 'failed', error: 'W.sh: exit 1', branch: 'raymond/run-1/main_w1', commits: 1 },
      { agent: 'main_p2', status: 'limited', branch: 'raymond/run-1/main_p2', dirty: true },
      { agent: 'main_w3', status: 'cancelled', branch: 'raymond/run-1/main_w3', commits: 3 },
    ]);
    expect(kindsOf(driver, 'main_w3').slice(-5)).toStrictEqual([
      'cancelling',
      'turn_ended',
      'worktree_leaving',
      'worktree_left',
      'agent_cancelled',
    ]);
  });
});

describe('a join that cancels', () => {
  const race = `<fork>W</fork>${FORK}<join wait="any" cancel="true">MERGE</join>`;

  test('discards a worktree that is still being made, and does not wait for a signal about it', () => {
    const driver = started(race).runTurn('main_w1', '<result>first</result>');
    expect(driver.agent('main_w2')).toMatchObject({
      worktree: { kind: 'wanted' },
      phase: { kind: 'worktree', outcome: { kind: 'cancelled', by: 'main' } },
    });
    expect(worktreeTurns(driver)).toStrictEqual([['main_w2', false, null]]);
    const before = driver.run.agents;
    make(driver, 'main_w2');
    expect(driver.run.agents).toBe(before);
    close(driver, 'main_w2');
    expect(resultsOf(driver)).toMatchObject([{ status: 'ended' }, { agent: 'main_w2', status: 'cancelled' }]);
    expect(resultsOf(driver)[1]).not.toHaveProperty('branch');
    expect(kindsOf(driver, 'main_w2')).toStrictEqual([
      'agent_started',
      'worktree_opening',
      'worktree_leaving',
      'agent_cancelled',
    ]);
  });

  test.each(['woke', 'began', 'unreadable'] as const)(
    'ignores a `%s` that was on its way to a worker that leaves its worktree',
    (kind) => {
      const driver = started(race);
      make(driver, 'main_w2');
      driver.runTurn('main_w1', '<result>first</result>');
      const before = driver.run.agents;
      const signal = { at: 7000, agent: 'main_w2', sessionId: 's', rules: null, warnings: [], message: '' } as const;
      driver.apply({ kind, ...signal });
      expect(driver.run.agents).toBe(before);
    },
  );

  test('keeps the result of a worker that was only leaving its worktree, and waits for that', () => {
    const driver = started(race);
    make(driver, 'main_w2');
    driver.runTurn('main_w2', '<result>second</result>').runTurn('main_w1', '<result>first</result>');
    expect(driver.agent().phase).toMatchObject({ kind: 'joining', ending: 1 });
    close(driver, 'main_w2', { kept: true, commits: 1 });
    expect(resultsOf(driver)).toMatchObject([{ result: 'first' }, { status: 'ended', result: 'second', commits: 1 }]);
  });

  test('is not over before the last of them, whatever comes late for the others', () => {
    const driver = started('<fork>W</fork><fork>P</fork><fork>W</fork><join wait="any" cancel="true">MERGE</join>');
    driver.begin('main_w3');
    driver.runTurn('main_p2', { fail: { kind: 'transient', message: 'busy' } });
    driver.runTurn('main_w1', '<result>first</result>');
    expect(driver.agent('main_p2').phase.kind).toBe('cancelled');
    driver.apply({ kind: 'woke', at: 9000, agent: 'main_p2' });
    expect(driver.agent().phase).toMatchObject({ kind: 'joining', ending: 1 });
  });
});

describe('a resume', () => {
  test.each([true, false])('opens the worktree of a failed worker again; kept: %s', (kept) => {
    const driver = started(`${FORK}<goto>LATE</goto>`).answer('<result></result>');
    make(driver, 'main_w1');
    driver.runTurn('main_w1', { fail: { kind: 'script', message: 'exit 1' } });
    expect(driver.run.status).toBe('running');
    close(driver, 'main_w1', { kept, dirty: kept });
    expect(driver.run.status).toBe('failed');
    driver.resume({}, true);
    expect(worktreeTurns(driver)).toStrictEqual([['main_w1', true, '/w/trees/main_w1']]);
    const [place, warning] = [placeFor('main_w1'), 'it was gone'];
    driver.apply({ kind: 'worktree_made', at: 8000, agent: 'main_w1', place, cwd: '/w/trees', warning });
    expect(driver.agent('main_w1')).toMatchObject({ cwd: '/w/trees/main_w1/sub', worktree: { kind: 'made' } });
    // It was removed, if it held nothing: then nobody misses it.
    expect(driver.eventsOf('warning').map(({ message }) => message)).toStrictEqual(kept ? [warning] : []);
    driver.runTurn('main_w1', '<result>at last</result>');
    close(driver, 'main_w1');
    expect(driver.run.status).toBe('completed');
  });

  test('tries again to make a worktree that could not be made', () => {
    const driver = started(`${FORK}<goto>LATE</goto>`).answer('<result></result>');
    driver.apply({ kind: 'worktree_refused', at: 5000, agent: 'main_w1', message: 'there is no repository' });
    expect(driver.agent('main_w1').phase).toStrictEqual({ kind: 'failed', message: 'W.sh: there is no repository' });
    expect(driver.resume({}, true).agent('main_w1').phase).toStrictEqual({ kind: 'worktree', outcome: null });
  });
});
