import { describe, expect, test } from 'vitest';
import { parseWorkspace, resolveWorkspace, WORKSPACE_OPTION, workspaceProblem } from '../../src/core/run/workspace.ts';
import { canResume } from '../../src/core/signals/resumed.ts';
import { due } from '../../src/core/turns/due.ts';
import { RunDriver } from './run-driver.ts';

const PLACE = {
  path: '/c/main',
  branch: 'raymond/run-1/main',
  base: 'c0ffee',
  repository: '/c/main/.git',
  remote: '/r',
};
const PUSHED = { kept: false, commits: 1, dirty: false, pushed: true };

const started = () => new RunDriver({ files: ['START.sh', 'W.sh', 'END.sh'] }, { workspace: '/r#v1', onAsk: 'exit' });
const make = (driver: RunDriver, place = PLACE) => driver.apply({ kind: 'workspace_made', at: 5000, place });
const leave = (driver: RunDriver, problem?: string) =>
  driver.apply({
    kind: 'workspace_left',
    at: 6000,
    content: { ...PUSHED, pushed: problem === undefined },
    ...(problem !== undefined && { problem }),
  });
const dueOf = ({ run }: RunDriver) =>
  due(run).map((turn) => [turn.kind, turn.agent, ...('isWanted' in turn ? [turn.isWanted] : [])]);

describe('the clone of a run', () => {
  test('is made before anything else, and then everybody works in it', () => {
    const driver = started();
    expect(due(driver.run)).toStrictEqual([
      {
        kind: 'workspace',
        agent: 'workspace',
        isWanted: true,
        source: { git: '/r', ref: 'v1' },
        place: null,
        isOver: false,
        node: null,
      },
    ]);
    make(driver);
    expect([driver.agent().cwd, driver.run.startFolder, dueOf(driver)]).toStrictEqual([
      '/c/main',
      '/c/main',
      [['script', 'main']],
    ]);
    expect(driver.eventsOf('workspace_opened')).toStrictEqual([
      { kind: 'workspace_opened', at: 5000, ...PLACE, from: '/w' },
    ]);
  });

  test('is left when the last agent has ended, not when the main one has', () => {
    const driver = started();
    make(driver);
    driver.answer('<fork next="END">W</fork>', '<result>main</result>');
    expect([driver.agent().phase.kind, dueOf(driver)]).toStrictEqual(['ended', [['script', 'main_w1']]]);
    driver.runTurn('main_w1', '<result>w</result>');
    expect([driver.run.status, due(driver.run)]).toMatchObject(['running', [{ kind: 'workspace', isOver: true }]]);
    leave(driver);
    expect([driver.run.status, driver.run.workspace, due(driver.run)]).toStrictEqual([
      'completed',
      { kind: 'left', place: PLACE, content: PUSHED },
      [],
    ]);
    const kinds = driver.events.map(({ kind }) => kind);
    expect(kinds.slice(-3)).toStrictEqual(['workspace_leaving', 'workspace_left', 'run_ended']);
    expect(canResume(driver.run, true)).toBe(false);
  });

  test('is left when the run pauses, stays for it, and is looked for by the resume', () => {
    const driver = started();
    make(driver);
    driver.begin('main');
    driver.apply({ kind: 'stopped', at: 5500, by: 'interrupted' });
    driver.reply('main', '<goto>W</goto>');
    expect(due(driver.run)).toMatchObject([{ kind: 'workspace', isWanted: false, isOver: false }]);
    leave(driver);
    expect(driver.run.status).toBe('interrupted');
    driver.resume();
    expect(due(driver.run)).toMatchObject([{ kind: 'workspace', isWanted: true, place: PLACE }]);
    make(driver);
    expect(dueOf(driver)).toStrictEqual([['script', 'main']]);
  });

  test('is left once more after somebody has answered while it was left', () => {
    const driver = started();
    make(driver);
    driver.answer('<ask next="END">Really?</ask>');
    expect(due(driver.run)).toMatchObject([{ kind: 'workspace', isWanted: false }]);
    const phase = driver.agent().phase;
    const answer = { text: 'Yes.', by: 'Ada', answeredAt: 5500, files: [] };
    const ask = phase.kind === 'asking' ? phase.ask : '';
    driver.apply({ kind: 'ask_answered', at: 5500, agent: 'main', ask, ...answer });
    driver.begin('main');
    leave(driver);
    expect(driver.run.workspace).toStrictEqual({ kind: 'made', place: PLACE });
    driver.reply('main', '<result>committed more</result>');
    expect(due(driver.run)).toMatchObject([{ kind: 'workspace', isWanted: false, isOver: true }]);
    leave(driver);
    expect([driver.run.status, driver.run.workspace?.kind]).toStrictEqual(['completed', 'left']);
  });

  test('that is on another machine now takes its agents along, with all who wait for them', () => {
    const driver = started();
    make(driver);
    driver.answer('<call return="END" cd="sub">W</call>'.replace(' cd="sub"', ''));
    driver.resume();
    make(driver, { ...PLACE, path: '/d/main' });
    expect([driver.agent().cwd, driver.agent().stack.map(({ cwd }) => cwd)]).toStrictEqual(['/d/main', ['/d/main']]);
  });

  test('that cannot be made pauses the run before it has begun, and a resume tries again', () => {
    const driver = started();
    driver.apply({ kind: 'workspace_refused', at: 5000, message: 'nobody is there' });
    expect([driver.run.status, driver.run.stop, due(driver.run), driver.run.iterations]).toStrictEqual([
      'paused',
      { kind: 'workspace', message: 'nobody is there' },
      [],
      0,
    ]);
    driver.resume({ workspace: '/s' });
    expect(due(driver.run)).toMatchObject([{ kind: 'workspace', source: { git: '/s', ref: null } }]);
  });

  test('that was never made is not waited for if nobody wants it any more', () => {
    const driver = started();
    driver.apply({ kind: 'workspace_refused', at: 5000, message: 'nobody is there' });
    driver.resume({ workspace: null });
    expect([driver.run.workspace, dueOf(driver)]).toStrictEqual([null, [['script', 'main']]]);
  });

  test('that cannot be pushed pauses even a run whose agents have all ended, and a resume pushes again', () => {
    const driver = started();
    make(driver);
    driver.answer('<result>done</result>');
    leave(driver, 'it is refused');
    expect([driver.run.status, driver.run.stop]).toStrictEqual([
      'paused',
      { kind: 'workspace', message: 'it is refused' },
    ]);
    expect(canResume(driver.run, false)).toBe(true);
    driver.resume();
    expect(due(driver.run)).toMatchObject([{ kind: 'workspace', isWanted: false, isOver: true }]);
    leave(driver);
    expect([driver.run.status, driver.agent().phase]).toStrictEqual(['completed', { kind: 'ended', result: 'done' }]);
  });

  test('that cannot be pushed is told, too, if the run was stopped when its agents had ended', () => {
    const driver = started();
    make(driver);
    driver.answer('<result>done</result>');
    driver.apply({ kind: 'stopped', at: 5500, by: 'interrupted' });
    leave(driver, 'there was no time');
    expect([driver.run.status, driver.run.stop?.kind]).toStrictEqual(['paused', 'workspace']);
  });

  test('that comes after the run was stopped waits for the resume', () => {
    const driver = started();
    driver.apply({ kind: 'stopped', at: 4000, by: 'stopped' });
    make(driver);
    const content = { kept: true, commits: 0, dirty: false, pushed: true };
    expect([driver.run.status, driver.run.workspace]).toStrictEqual([
      'paused',
      { kind: 'left', place: PLACE, content },
    ]);
    expect(driver.eventsOf('run_ended')).toHaveLength(1);
    driver.resume();
    expect(dueOf(driver)).toStrictEqual([['workspace', 'workspace', true]]);
  });

  const crashedInLastTurn = () => {
    const driver = started();
    make(driver);
    driver.begin('main');
    // The process was killed: the resume finds the turn on record, and looks for the clone meanwhile.
    driver.resume();
    expect(dueOf(driver)).toStrictEqual([
      ['script', 'main'],
      ['workspace', 'workspace', true],
    ]);
    return driver;
  };

  test('is left if the last turn ends before the resume has found the clone', () => {
    const driver = crashedInLastTurn();
    driver.reply('main', '<result>done</result>');
    expect([driver.run.status, dueOf(driver)]).toStrictEqual(['running', [['workspace', 'workspace', false]]]);
    make(driver);
    expect([driver.run.status, dueOf(driver)]).toStrictEqual(['running', [['workspace', 'workspace', false]]]);
    leave(driver);
    expect([driver.run.status, driver.run.workspace?.kind]).toStrictEqual(['completed', 'left']);
    const kinds = driver.events.map(({ kind }) => kind);
    expect(kinds.slice(-4)).toStrictEqual(['workspace_opened', 'workspace_leaving', 'workspace_left', 'run_ended']);
  });

  test('completes the run if it could not be found at first and was pushed nevertheless', () => {
    const driver = crashedInLastTurn();
    driver.reply('main', '<result>done</result>');
    driver.apply({ kind: 'workspace_refused', at: 5600, message: 'nobody is there' });
    leave(driver);
    expect([driver.run.status, driver.run.stop]).toStrictEqual(['completed', null]);
  });

  test('is left if the run is stopped before the resume has found it', () => {
    const driver = crashedInLastTurn();
    driver.apply({ kind: 'stopped', at: 5500, by: 'stopped' });
    driver.reply('main', '<goto>W</goto>');
    expect(dueOf(driver)).toStrictEqual([['workspace', 'workspace', false]]);
    leave(driver);
    expect([driver.run.status, driver.run.workspace?.kind]).toStrictEqual(['paused', 'left']);
  });

  test('that an earlier version left unpushed is pushed by a resume of the completed run', () => {
    const driver = crashedInLastTurn();
    driver.reply('main', '<result>done</result>');
    driver.run = { ...driver.run, status: 'completed' };
    expect(canResume(driver.run, false)).toBe(true);
    driver.resume();
    expect(due(driver.run)).toMatchObject([{ kind: 'workspace', isWanted: false, isOver: true }]);
  });

  test('is pushed by a resume even if the budget is used up', () => {
    const driver = started();
    make(driver);
    driver.answer('<result>done</result>');
    leave(driver, 'it is refused');
    driver.run = { ...driver.run, ledger: { ...driver.run.ledger, spentMicros: 2_000_000 } };
    driver.resume({ budgetMicros: 1_000_000 });
    expect(dueOf(driver)).toStrictEqual([['workspace', 'workspace', false]]);
    leave(driver);
    expect(driver.run.status).toBe('completed');
  });

  test('is told to the turns about worktrees, which are pushed to the same place', () => {
    const driver = started();
    make(driver);
    driver.answer('<fork worktree="auto">W</fork><join>END</join>');
    expect(due(driver.run)).toMatchObject([{ kind: 'worktree', agent: 'main_w1', workspace: PLACE }]);
    const place = {
      path: '/c/w1',
      branch: 'raymond/run-1/main_w1',
      base: 'c',
      repository: '/c/main/.git',
      remote: '/r',
    };
    driver.apply({ kind: 'worktree_made', at: 1, agent: 'main_w1', place, cwd: '/c/w1' });
    driver.runTurn('main_w1', '<result>w</result>');
    driver.apply({ kind: 'worktree_closed', at: 2, agent: 'main_w1', content: PUSHED });
    const [turn] = due(driver.run);
    expect(turn !== undefined && 'results' in turn && turn.results?.workers).toMatchObject([
      { branch: 'raymond/run-1/main_w1', remote: '/r', worktree: null, commits: 1 },
    ]);
  });
});

describe('the address of a workspace', () => {
  test.each([
    ['git@host:team/app.git', { git: 'git@host:team/app.git', ref: null }],
    ['https://host/app.git#v1.2', { git: 'https://host/app.git', ref: 'v1.2' }],
    ['/a/b#c#feature/x', { git: '/a/b#c', ref: 'feature/x' }],
    ['/a/b#', { git: '/a/b', ref: null }],
  ])('%s', (text, source) => {
    expect(parseWorkspace(text)).toStrictEqual(source);
    expect(workspaceProblem(text)).toBeUndefined();
  });

  test.each([
    ['../up.git#main', '/x/../up.git#main'],
    ['git@host:up.git', 'git@host:up.git'],
    ['ssh://host/up.git', 'ssh://host/up.git'],
  ])('%s is taken as %s', (text, resolved) => {
    expect(resolveWorkspace(text, (path) => `/x/${path}`)).toBe(resolved);
  });

  test.each([
    ['https://me:secret@host/app.git', /password/],
    ['https://ghp_secret@github.com/team/app.git', /password or token/],
    ['HTTP://secret@host/app.git#main', /password or token/],
    ['#main', /missing/],
    ['--upload-pack=x', /not the address/],
    ['/r#a b', /cannot be the name/],
    ['/r#-x', /cannot be the name/],
    ['/r#a..b', /cannot be the name/],
  ])('%s is refused, and its secret is not repeated', (text, message) => {
    expect(workspaceProblem(text)).toMatch(message);
    expect(workspaceProblem(text)).not.toContain('secret');
    expect(WORKSPACE_OPTION.type.parse(text)).toBeUndefined();
  });

  test('none is no clone, even where the workflow wants one', () => {
    expect(WORKSPACE_OPTION.type.parse('none')).toBeNull();
  });
});
