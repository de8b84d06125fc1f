import { describe, expect, test } from 'vitest';
import type { PolicyEntry } from '../../src/language/policy.ts';
import { RunDriver } from './run-driver.ts';

const workflow = (...files: string[]) => ({ files });

describe('goto', () => {
  test('continues the same conversation and passes no input', () => {
    const driver = new RunDriver(workflow('START.md', 'A.md'), {}, 'given').answer(
      '<goto>A</goto>',
      '<result>x</result>',
    );
    expect(driver.turns).toStrictEqual([
      { agent: 'main', state: 'START.md', session: 'new s1', input: 'given' },
      { agent: 'main', state: 'A.md', session: 'resume s1', input: null },
    ]);
  });

  test.each(['goto', 'reset'])('<%s> passes its `input` to the next state only', (tag) => {
    const driver = new RunDriver(workflow('START.md', 'A.md', 'B.md'));
    driver.answer(`<${tag} input="x y">A</${tag}>`, '<goto>B</goto>', '<result></result>');
    expect(driver.turns.map(({ input }) => input)).toStrictEqual([null, 'x y', null]);
  });
});

describe('reset', () => {
  test('starts a new conversation and changes the directory with `cd`', () => {
    const driver = new RunDriver(workflow('START.md', 'A.md', 'B.md'));
    driver.answer({ text: '<reset cd="sub">A</reset>', folders: { sub: '/w/sub' } }, '<reset>B</reset>');
    expect(driver.agent()).toMatchObject({ state: 'B.md', session: null, cwd: '/w/sub' });
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'new s2']);
  });

  test('keeps the callers, so that a callee that loops can still return', () => {
    const driver = new RunDriver(workflow('START.md', 'LOOP.md', 'BACK.md'));
    driver.answer(
      '<call return="BACK">LOOP</call>',
      '<reset>LOOP</reset>',
      '<result>done</result>',
      '<result>end</result>',
    );
    expect(driver.turns.at(-1)).toStrictEqual({ agent: 'main', state: 'BACK.md', session: 'resume s1', input: 'done' });
    expect(driver.eventsOf('warning')).toStrictEqual([]);
  });

  test('drops the callers with `stack="clear"`, with an event', () => {
    const driver = new RunDriver(workflow('START.md', 'A.md', 'BACK.md'));
    driver.answer('<call return="BACK">A</call>', '<reset stack="clear">START</reset>', '<result>end</result>');
    expect(driver.run.status).toBe('completed');
    expect(driver.eventsOf('warning').map(({ message }) => message)).toStrictEqual([
      'A.md cleared the return stack: 1 caller will never get a result',
    ]);
  });

  test('drops them by default if the run is configured that way, unless it has `stack="keep"`', () => {
    const driver = new RunDriver(workflow('START.md', 'A.md', 'BACK.md'), { resetStack: 'clear' });
    driver.answer('<call return="BACK">A</call>', '<reset stack="keep">A</reset>');
    expect(driver.agent().stack).toHaveLength(1);
    driver.answer('<reset>A</reset>');
    expect(driver.agent().stack).toStrictEqual([]);
  });
});

describe('call, function and result', () => {
  test('the seven turns of the protocol use the right sessions', () => {
    const driver = new RunDriver(workflow('START.md', 'F.md', 'F2.md', 'F3.md', 'B.md', 'C.md', 'D.md'));
    driver.answer(
      '<function return="B">F</function>',
      '<goto>F2</goto>',
      '<reset>F3</reset>',
      '<result>r1</result>',
      '<call return="D">C</call>',
      '<result>r2</result>',
      '<result>the end</result>',
    );
    expect(driver.turns.map(({ state, session, input }) => [state, session, input])).toStrictEqual([
      ['START.md', 'new s1', null],
      ['F.md', 'new s2', null],
      ['F2.md', 'resume s2', null],
      ['F3.md', 'new s3', null],
      ['B.md', 'resume s1', 'r1'],
      ['C.md', 'fork s1 s4', null],
      ['D.md', 'resume s1', 'r2'],
    ]);
    expect(driver.run.status).toBe('completed');
    expect(driver.agent().phase).toStrictEqual({ kind: 'ended', result: 'the end' });
  });

  test('a script does not affect a pending fork, also for its callees', () => {
    const driver = new RunDriver(workflow('START.md', 'R.md', 'C.sh', 'C2.md', 'X.sh'));
    driver.answer('<call return="R">C.sh</call>', '<call return="C2.md">X.sh</call>', '<result>x</result>');
    driver.answer('<result>y</result>', '<result>z</result>');
    expect(driver.turns.map(({ state, session }) => [state, session])).toStrictEqual([
      ['START.md', 'new s1'],
      ['C.sh', 'none'],
      ['X.sh', 'none'],
      ['C2.md', 'fork s1 s2'],
      ['R.md', 'resume s1'],
    ]);
  });

  test('a call from an agent without a conversation starts one, and the caller gets its own', () => {
    const driver = new RunDriver(workflow('START.sh', 'C.md', 'R.md'));
    driver.answer('<call return="R">C</call>', '<result>x</result>', '<result>y</result>');
    expect(driver.turns.map(({ session }) => session)).toStrictEqual(['none', 'new s1', 'new s2']);
  });

  test('returns to the caller after any number of transitions of the callee', () => {
    const driver = new RunDriver(workflow('S1.md', 'S2.md', 'S3.md', 'S4.md', 'S5.md'));
    driver.answer('<call return="S3">S2</call>', '<goto>S4</goto>', '<goto>S5</goto>', '<result>r</result>');
    expect(driver.agent()).toMatchObject({ state: 'S3.md', input: 'r', stack: [] });
  });

  test("the caller's directory, model and effort are restored with its frame", () => {
    const driver = new RunDriver(workflow('START.md', 'C.md', 'R.md'));
    driver.answer('<call return="R" model="Haiku" effort="LOW">C</call>');
    expect(driver.agent()).toMatchObject({ model: 'haiku', effort: 'low', cwd: '/w' });
    driver.answer({ text: '<reset cd="x">C</reset>', folders: { x: '/w/x' } });
    expect(driver.agent()).toMatchObject({ model: 'haiku', effort: 'low', cwd: '/w/x' });
    driver.answer('<result>r</result>');
    expect(driver.agent()).toMatchObject({ model: null, effort: null, cwd: '/w', state: 'R.md' });
  });

  test('a result keeps its inner white space and loses its outer white space', () => {
    const driver = new RunDriver(workflow('START.md')).answer('<result>\n  a\n\n  b <goto>X</goto> \n</result>');
    expect(driver.agent().phase).toStrictEqual({ kind: 'ended', result: 'a\n\n  b <goto>X</goto>' });
  });
});

describe('fork', () => {
  const files = workflow('START.md', 'WORKER.md', 'ANALYZE.md', 'NEXT.md');

  test('one answer may have several forks and one goto; each worker gets its own name and variables', () => {
    const driver = new RunDriver(files).answer(
      '<fork item="a">WORKER</fork><fork item="b" input="go">WORKER</fork><fork>ANALYZE</fork><goto input="all">NEXT</goto>',
    );
    expect(
      driver.run.agents.map(({ id, parent, state, input, variables }) => [id, parent, state, input, variables]),
    ).toStrictEqual([
      ['main', null, 'NEXT.md', 'all', {}],
      ['main_worker1', 'main', 'WORKER.md', null, { item: 'a' }],
      ['main_worker2', 'main', 'WORKER.md', 'go', { item: 'b' }],
      ['main_analyz3', 'main', 'ANALYZE.md', null, {}],
    ]);
  });

  test('the parent continues its conversation, the worker starts a new one with an empty stack', () => {
    const driver = new RunDriver(files).answer(
      '<call return="NEXT">WORKER</call>',
      '<fork next="WORKER">ANALYZE</fork>',
    );
    expect(driver.agent().stack).toHaveLength(1);
    expect(driver.agent('main_analyz1')).toMatchObject({ stack: [], session: null });
    driver.runTurn('main', '<result></result>').runTurn('main_analyz1', '<result></result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'fork s1 s2', 'resume s2', 'new s3']);
  });

  test("the worker works in its parent's current directory unless it has its own", () => {
    const folders = { x: '/x', y: '/x/y' };
    const driver = new RunDriver(files).answer({ text: '<reset cd="x">START</reset>', folders });
    driver.answer({ text: '<fork next="START">WORKER</fork><fork cd="y" next="START">WORKER</fork>', folders });
    expect(driver.run.agents.map(({ cwd }) => cwd)).toStrictEqual(['/x', '/x', '/x/y']);
  });

  test('a worker keeps its variables, model and effort across goto, reset and call', () => {
    const driver = new RunDriver(files).answer('<fork next="NEXT" item="a" model="opus">WORKER</fork>');
    const worker = 'main_worker1';
    driver.runTurn(worker, '<goto>NEXT</goto>').runTurn(worker, '<reset>NEXT</reset>');
    driver.runTurn(worker, '<call return="NEXT">ANALYZE</call>').runTurn(worker, '<result></result>');
    expect(driver.agent(worker)).toMatchObject({ variables: { item: 'a' }, model: 'opus', state: 'NEXT.md' });
  });

  test('workers of workers are named after their parents, and counters never decrease', () => {
    const driver = new RunDriver(files).answer('<fork next="START">WORKER</fork>');
    driver.runTurn('main_worker1', '<fork next="NEXT">ANALYZE</fork>').runTurn('main_worker1', '<result></result>');
    driver.answer('<fork next="START">WORKER</fork>');
    expect(driver.run.agents.map(({ id }) => id)).toStrictEqual([
      'main',
      'main_worker1',
      'main_worker1_analyz1',
      'main_worker2',
    ]);
  });
});

test('an implicit transition is taken only without a tag', () => {
  const policy: PolicyEntry[] = [{ tag: 'goto', target: 'A', attributes: {} }];
  const driver = new RunDriver({ files: ['START.md', 'A.md'], rules: { 'START.md': { policy } } }).answer('All done.');
  expect(driver.eventsOf('transition')).toMatchObject([{ tag: 'goto', to: 'A.md', implicit: true }]);
});

describe('the event of a transition', () => {
  const files = ['START.md', 'A.md', 'B.md'];
  const tagsOf = (driver: RunDriver) => driver.eventsOf('transition').map(({ tags }) => tags);

  test('reports the tag with exact names, and as it was written', () => {
    const text = '<CALL return=" B " model="Opus" odd="1">A</CALL>';
    expect(tagsOf(new RunDriver(workflow(...files)).answer(text))).toStrictEqual([
      [
        {
          tag: 'call',
          target: 'A.md',
          attributes: { return: 'B.md', model: 'opus' },
          written: { target: 'A', attributes: { return: ' B ', model: 'Opus', odd: '1' } },
        },
      ],
    ]);
  });

  test('reports all forks and their goto, each with the next state of the parent', () => {
    const text = '<fork item="x" cd="sub">A</fork><fork item="y">A</fork><goto>B</goto>';
    const driver = new RunDriver(workflow(...files)).answer({ text, folders: { sub: '/w/sub' } });
    expect(tagsOf(driver)[0]?.map(({ tag, target, attributes }) => ({ tag, target, ...attributes }))).toStrictEqual([
      { tag: 'fork', target: 'A.md', item: 'x', cd: '/w/sub', next: 'B.md' },
      { tag: 'fork', target: 'A.md', item: 'y', next: 'B.md' },
      { tag: 'goto', target: 'B.md' },
    ]);
  });

  test('does not repeat the text of a result', () => {
    const driver = new RunDriver(workflow(...files)).answer('<result>long</result>');
    expect(driver.eventsOf('transition')).toMatchObject([{ input: 'long', tags: [{ tag: 'result', target: null }] }]);
    expect(JSON.stringify(tagsOf(driver))).not.toContain('long');
  });

  test('reports an implicit tag as written in the policy', () => {
    const policy: PolicyEntry[] = [{ tag: 'goto', target: 'A', attributes: { input: 'i' } }];
    const driver = new RunDriver({ files, rules: { 'START.md': { policy } } }).answer('All done.');
    const attributes = { input: 'i' };
    const written = { target: 'A', attributes };
    expect(tagsOf(driver)).toStrictEqual([[{ tag: 'goto', target: 'A.md', attributes, written }]]);
  });
});
