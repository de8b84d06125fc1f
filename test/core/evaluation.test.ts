import { describe, expect, test } from 'vitest';
import { due } from '../../src/core/turns/due.ts';
import type { Evaluator } from '../../src/language/policy.ts';
import { compilePattern } from '../../src/language/state.ts';
import { entryOf, payloadEntry } from './builders.ts';
import { RunDriver, type TestWorkflow } from './run-driver.ts';

const FILES = ['WORK.md', 'FIX.md', 'DONE.md', 'GATE.sh', 'JUDGE.md', 'STEP.sh'];
const POLICY = [entryOf('goto', 'DONE.md'), entryOf('goto', 'FIX.md'), payloadEntry('STOP')];
const TODO: Evaluator = {
  kind: 'pattern',
  pattern: 'TODO',
  overridesOn: 'match',
  instead: entryOf('goto', 'FIX.md'),
};
const GATE: Evaluator = { kind: 'script', file: 'GATE' };
const JUDGE: Evaluator = { kind: 'prompt', file: 'JUDGE.md', model: 'haiku', effort: null };

const workflowOf = (evaluators: readonly Evaluator[], policy = POLICY): TestWorkflow => ({
  files: FILES,
  rules: { 'WORK.md': { policy, maxVisits: 2, evaluators } },
});

const driverOf = (...evaluators: readonly Evaluator[]): RunDriver => new RunDriver(workflowOf(evaluators));

const DONE = 'Done. <goto>DONE.md</goto>';

const choices = (driver: RunDriver) =>
  driver.eventsOf('transition').map(({ state, to, requested, choice }) => ({
    way: `${state} -> ${to}`,
    requested: requested.map(({ tag, target }) => `${tag} ${target}`).join(),
    ...choice,
  }));

describe('a pattern', () => {
  test('overrides the transition if it matches, without a turn', () => {
    const driver = driverOf(TODO).answer('TODO: tests <goto>DONE.md</goto>');
    expect(driver.agent()).toMatchObject({ state: 'FIX.md', evaluation: null, turns: 1 });
    expect(choices(driver)).toStrictEqual([
      {
        way: 'WORK.md -> FIX.md',
        requested: 'goto DONE.md',
        by: 'evaluator',
        name: 'match `TODO`',
        why: 'the answer matches',
      },
    ]);
  });

  test('is no implicit transition: the pattern chose it, not the policy', () => {
    const driver = driverOf(TODO).answer({ text: DONE, matches: [true] });
    expect(driver.eventsOf('transition').at(-1)).toMatchObject({ implicit: false, choice: { by: 'evaluator' } });
  });

  test('confirms by not matching', () => {
    const driver = driverOf(TODO).answer(DONE);
    expect(choices(driver)).toStrictEqual([
      { way: 'WORK.md -> DONE.md', requested: 'goto DONE.md', by: 'answer', name: null, why: null },
    ]);
  });

  test('of `unless` is the opposite', () => {
    const unless: Evaluator = { ...TODO, overridesOn: 'mismatch', pattern: '^All tests pass' };
    expect(driverOf(unless).answer(DONE).agent().state).toBe('FIX.md');
    expect(driverOf(unless).answer(`Yes.\nAll tests pass\n${DONE}`).agent().state).toBe('DONE.md');
  });

  test('that took too long fails its state instead of confirming', () => {
    const driver = driverOf(TODO).answer({ text: DONE, matches: ['timeout'] });
    expect(driver.agent().phase).toStrictEqual({
      kind: 'failed',
      message: 'WORK.md: its evaluator match `TODO`: the pattern took too long over the answer',
    });
  });

  test('can end the agent with a text, and hand over an input that is a template', () => {
    const stop: Evaluator = { ...TODO, instead: payloadEntry('STOP') };
    expect(driverOf(stop).answer('TODO <goto>DONE.md</goto>').agent().phase).toStrictEqual({
      kind: 'ended',
      result: 'STOP',
    });
    const input: Evaluator = { ...TODO, instead: entryOf('goto', 'FIX.md', { input: 'look at {{state}}' }) };
    expect(driverOf(input).answer('TODO <goto>DONE.md</goto>').agent().input).toBe('look at WORK.md');
  });

  test('whose transition the state does not permit any more fails the state', () => {
    const evaluator: Evaluator = { ...TODO, instead: entryOf('goto', 'STEP.sh') };
    const driver = driverOf(evaluator).answer('TODO <goto>DONE.md</goto>');
    expect(driver.agent().phase).toStrictEqual({
      kind: 'failed',
      message: 'WORK.md: its evaluator match `TODO`: <goto>STEP.sh</goto> is not permitted here',
    });
  });

  test('is only asked about a valid answer', () => {
    const driver = driverOf(TODO).answer('TODO');
    expect(driver.agent().phase).toMatchObject({ kind: 'ready', prompt: { kind: 'reminder' } });
  });

  test('may begin with flags', () => {
    expect(compilePattern('(?i)todo')).toStrictEqual(/todo/im);
    expect(compilePattern('(?ms)a.b')).toStrictEqual(/a.b/ms);
    expect(compilePattern('(')).toMatchObject({ problem: expect.stringContaining('Unterminated') });
  });
});

describe('a gate', () => {
  test('is a turn of a script that knows the answer and its transition, and is no visit', () => {
    const driver = driverOf(GATE).answer(DONE);
    expect(due(driver.run)).toMatchObject([
      {
        kind: 'script',
        state: 'GATE.sh',
        number: 2,
        visit: 1,
        attempt: 1,
        evaluates: { state: 'WORK.md', text: DONE, transition: '<goto>DONE.md</goto>' },
        variables: { state: 'WORK.md', output: DONE, transition: '<goto>DONE.md</goto>' },
      },
    ]);
    driver.answer('');
    expect(driver.agent()).toMatchObject({ state: 'DONE.md', visits: { 'WORK.md': 1 }, evaluations: { 'GATE.sh': 1 } });
    expect(driver.run.iterations).toBe(1);
    expect(driver.eventsOf('evaluated')).toMatchObject([
      { state: 'WORK.md', evaluator: 'GATE.sh', verdict: 'confirmed', transition: '<goto>DONE.md</goto>', why: null },
    ]);
    expect(driver.eventsOf('turn_started').map(({ state, evaluator }) => [state, evaluator])).toStrictEqual([
      ['WORK.md', null],
      ['WORK.md', 'GATE.sh'],
    ]);
  });

  test('overrides with a tag that the state permits, and says why', () => {
    const driver = driverOf(GATE).answer(DONE, '2 tests fail\n<goto>FIX.md</goto>\n');
    expect(choices(driver)).toStrictEqual([
      {
        way: 'WORK.md -> FIX.md',
        requested: 'goto DONE.md',
        by: 'evaluator',
        name: 'GATE.sh',
        why: '2 tests fail',
      },
    ]);
  });

  test('that prints a tag which the state does not permit fails the state', () => {
    const driver = driverOf(GATE).answer(DONE, '<goto>STEP.sh</goto>');
    expect(driver.agent().phase).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining(
        'WORK.md: its evaluator GATE.sh: no next step is found in its output: `<goto>STEP.sh',
      ),
    });
  });

  test('that fails for good fails the state, and `--retry` asks only the gate again', () => {
    const driver = driverOf(GATE).answer(DONE, { fail: { kind: 'script', message: 'exit code 1' } });
    expect(driver.agent().phase).toMatchObject({ message: 'WORK.md: its evaluator GATE.sh: exit code 1' });
    driver.resume({}, true).answer('');
    expect(driver.agent()).toMatchObject({ state: 'DONE.md', turns: 3 });
  });

  test('that was killed midway pauses, unless it is repeatable itself', () => {
    const killed = { fail: { kind: 'interrupted', message: 'killed' } } as const;
    const paused = driverOf(GATE).answer(DONE, killed);
    expect(paused.agent().phase).toMatchObject({ kind: 'paused', why: 'interrupted' });
    const { rules } = workflowOf([GATE]);
    const repeatable = new RunDriver({ files: FILES, rules: { ...rules, 'GATE.sh': { repeatable: true } } });
    repeatable.answer(DONE, killed);
    expect(repeatable.agent().phase).toMatchObject({ kind: 'ready' });
    repeatable.answer('');
    expect(repeatable.agent()).toMatchObject({ state: 'DONE.md' });
  });

  test('evaluates scripts, too', () => {
    const driver = new RunDriver({
      files: ['STEP.sh', 'GATE.sh', 'DONE.md'],
      rules: { 'STEP.sh': { evaluators: [GATE] } },
    });
    driver.answer('<goto>DONE.md</goto>', '');
    expect(driver.agent().state).toBe('DONE.md');
  });
});

describe('a judge', () => {
  test('has a conversation and a model of its own, and never touches that of the agent', () => {
    const driver = driverOf(JUDGE).answer(DONE);
    expect(due(driver.run)).toMatchObject([
      { kind: 'claude', state: 'JUDGE.md', preference: { model: 'haiku', effort: null } },
    ]);
    driver.answer('It is well done. <confirm></confirm>');
    expect(driver.agent()).toMatchObject({ state: 'DONE.md', session: { kind: 'open', id: 's1' } });
    driver.answer('<result>x</result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'new s2', 'resume s1']);
  });

  test('overrides with a transition of the policy of the state', () => {
    const driver = driverOf(JUDGE).answer(DONE, 'A test is missing.\n\n<goto>FIX.md</goto>');
    expect(choices(driver)).toMatchObject([{ by: 'evaluator', name: 'JUDGE.md', why: 'A test is missing.' }]);
    expect(driver.eventsOf('transition')[0]).toMatchObject({ session: 's1', sessionUse: 'new', cwd: '/w' });
  });

  test('is reminded in its own conversation, and fails the state if it never decides', () => {
    const driver = driverOf(JUDGE).answer(DONE, 'Hm.');
    const { phase } = driver.agent();
    expect(phase).toMatchObject({ kind: 'ready', prompt: { kind: 'reminder' } });
    expect(phase.kind === 'ready' && phase.prompt.kind === 'reminder' && phase.prompt.text).toContain(
      '    <confirm></confirm>\n    <goto>DONE.md</goto>\n',
    );
    driver.answer('Hm.', 'Hm.', 'Hm.');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'new s2', 'resume s2', 'resume s2', 'resume s2']);
    expect(driver.agent().phase).toMatchObject({
      message: 'WORK.md: its evaluator JUDGE.md: no valid answer after 3 reminders: it contains no tag',
    });
    expect(driver.eventsOf('reminded').map(({ evaluator }) => evaluator)).toStrictEqual(Array(3).fill('JUDGE.md'));
  });

  test.each([
    ['<confirm></confirm> <goto>FIX.md</goto>', 'it confirms and overrides'],
    ['<goto>STEP.sh</goto>', 'is not permitted here'],
    ['<confirm>', 'has no `</confirm>`'],
    ['<goto>NOWHERE.md</goto>', 'there is no state'],
  ])('is reminded after %j', (text, problem) => {
    const driver = driverOf(JUDGE).answer(DONE, text);
    expect(driver.eventsOf('reminded')).toMatchObject([{ message: expect.stringContaining(problem) }]);
  });

  test('may give its reason inside of the tag', () => {
    const driver = driverOf(JUDGE).answer(DONE, '<confirm>All is tested.</confirm>');
    expect(driver.eventsOf('evaluated')).toMatchObject([{ why: 'All is tested.' }]);
  });

  test('is tried again like any turn, and steps down if its conversation is lost', () => {
    const driver = driverOf(JUDGE).answer(DONE, 'Hm.', { fail: { kind: 'session_lost', message: 'gone' } });
    expect(driver.agent()).toMatchObject({
      session: { kind: 'open', id: 's1' },
      evaluation: { session: { kind: 'branch', of: 's2' } },
    });
    driver.answer({ fail: { kind: 'transient', message: 'overloaded' } });
    expect(driver.agent().phase.kind).toBe('sleeping');
    driver.wake('main').answer('<confirm/>');
    expect(driver.agent()).toMatchObject({ state: 'DONE.md', session: { id: 's1' } });
  });

  test('is paid for by its state', () => {
    const cost = { kind: 'reported', micros: 5_000 } as const;
    const driver = driverOf(JUDGE).answer({ text: DONE, cost }, { text: '<confirm/>', cost });
    expect(driver.run.ledger.states).toStrictEqual({ 'WORK.md': { turns: 2, micros: 10_000 } });
    expect(driver.eventsOf('transition')).toMatchObject([{ costMicros: 10_000 }]);
  });
});

describe('several evaluators', () => {
  test('are asked in order; the first that overrides wins', () => {
    const late: Evaluator = { ...TODO, pattern: 'late', instead: payloadEntry('STOP') };
    const text = `late ${DONE}`;
    expect(driverOf(GATE, JUDGE, late).answer(text, '').agent().evaluation).toMatchObject({
      file: 'JUDGE.md',
      index: 1,
    });
    expect(driverOf(GATE, JUDGE, late).answer(text, '', '<confirm/>').agent().phase).toMatchObject({ result: 'STOP' });
    expect(driverOf(GATE, late).answer(text, '<goto>FIX.md</goto>').agent().state).toBe('FIX.md');
    expect(driverOf(late, GATE).answer(text).agent().phase).toMatchObject({ result: 'STOP' });
  });

  test('count their reminders and tries each by itself', () => {
    const driver = driverOf(JUDGE, GATE).answer('Hm.', DONE, 'Hm.', 'Hm.', '<confirm/>');
    expect(driver.agent()).toMatchObject({ reminders: 0, retries: 0, tries: 0, evaluation: { file: 'GATE.sh' } });
  });
});

describe('limits', () => {
  const dear = { kind: 'reported', micros: 600_000 } as const;

  test('an answer over the budget is withheld with its transition, and evaluated after a resume', () => {
    const driver = new RunDriver(workflowOf([JUDGE]), { budgetMicros: 500_000 }).answer({ text: DONE, cost: dear });
    expect(driver.eventsOf('answer_withheld')).toMatchObject([
      {
        requested: [{ tag: 'goto', target: 'DONE.md' }],
        implicit: false,
        session: 's1',
        sessionUse: 'new',
        costMicros: 600_000,
      },
    ]);
    driver.resume({ budgetMicros: 5_000_000 });
    expect(driver.agent().evaluation).toMatchObject({ file: 'JUDGE.md', text: DONE });
  });

  test('a verdict over the budget is withheld, too', () => {
    const driver = new RunDriver(workflowOf([JUDGE]), { budgetMicros: 500_000 });
    driver.answer(DONE, { text: '<confirm/>', cost: dear });
    expect(driver.agent().phase).toMatchObject({ kind: 'withheld', text: '<confirm/>' });
    expect(driver.eventsOf('answer_withheld')).toMatchObject([{ requested: [{ tag: 'goto', target: 'DONE.md' }] }]);
    driver.resume({ budgetMicros: 5_000_000 });
    expect(driver.agent()).toMatchObject({ state: 'DONE.md', evaluation: null });
  });

  test('the limit of iterations names the agent that it keeps out', () => {
    const driver = new RunDriver(workflowOf([]), { maxIterations: 1 }).answer(DONE);
    driver.begin('main');
    expect(driver.eventsOf('run_stopping')).toMatchObject([
      { stop: { kind: 'iterations' }, refused: { agent: 'main', state: 'DONE.md' } },
    ]);
  });
});

test('an evaluator that is gone gets its likely name, so that its turn says what is missing', () => {
  const driver = new RunDriver({ files: ['WORK.md', 'DONE.md'], rules: { 'WORK.md': { evaluators: [GATE] } } });
  driver.answer(DONE);
  expect(due(driver.run)).toMatchObject([{ kind: 'script', state: 'GATE.sh' }]);
});

test('a target that is gone after the verdict is asked for again in the conversation of the state', () => {
  const driver = new RunDriver({
    files: ['WORK.md', 'DONE.md', 'JUDGE.md'],
    rules: { 'WORK.md': { evaluators: [JUDGE] } },
  });
  driver.answer(DONE, { text: '<confirm/>', scope: { files: ['WORK.md', 'JUDGE.md'], platform: 'unix' } });
  expect(driver.agent()).toMatchObject({ evaluation: null, phase: { kind: 'ready', prompt: { kind: 'reminder' } } });
  driver.answer('<result>x</result>');
  expect(driver.sessionsUsed).toStrictEqual(['new s1', 'new s2', 'resume s1']);
});

test('an evaluator that asks a person is named in the transition that the answer makes', () => {
  const policy = [...POLICY, entryOf('ask', null, { next: 'FIX.md' })];
  const driver = new RunDriver(workflowOf([GATE], policy), { onAsk: 'wait' }).answer(DONE);
  driver.answer('Nobody has seen this.\n<ask next="FIX.md">Is it done?</ask>');
  driver.apply({
    kind: 'ask_answered',
    at: 9000,
    agent: 'main',
    ask: 'main-2',
    text: 'No',
    by: 'ada',
    answeredAt: 8000,
    files: [],
  });
  expect(choices(driver)).toStrictEqual([
    {
      way: 'WORK.md -> FIX.md',
      requested: 'goto DONE.md',
      by: 'evaluator',
      name: 'GATE.sh',
      why: 'Nobody has seen this.',
    },
  ]);
});
