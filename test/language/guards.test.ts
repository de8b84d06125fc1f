import { describe, expect, test } from 'vitest';
import { due } from '../../src/core/turns/due.ts';
import type { FailureKind } from '../../src/language/failure.ts';
import type { GuardOutcome, Guards } from '../../src/language/guards.ts';
import type { PolicyEntry, Rules } from '../../src/language/policy.ts';
import { RunDriver } from '../core/run-driver.ts';

const files = ['START.md', 'FIX.md', 'CHECK.sh', 'SUB.md', 'OTHER.md'];
const guardsOf = (guards: Partial<Guards>): Partial<Rules> => ({
  guards: { retry: null, on: {}, maxVisitsPer: 'agent', stuck: null, ...guards },
});
const fail = (kind: FailureKind, message = `it was ${kind}`) => ({ fail: { kind, message } });
const policy: PolicyEntry[] = [
  { tag: 'goto', target: 'FIX', attributes: {} },
  { tag: 'result', target: null, attributes: {} },
];

const promptWith = (guards: Partial<Guards>, rules: Partial<Rules> = {}) => ({
  files,
  rules: { 'START.md': { ...guardsOf(guards), ...rules } },
});
const scriptWith = (guards: Partial<Guards>, rules: Partial<Rules> = {}) => ({
  files: ['CHECK.sh', 'FIX.md', 'OTHER.md'],
  rules: { 'CHECK.sh': { ...guardsOf(guards), ...rules } },
});

describe('on', () => {
  const ALL: Guards['on'] = {
    error: 'OTHER.md',
    timeout: 'FIX.md',
    denied: 'FIX.md',
    too_long: 'FIX.md',
    no_tag: 'FIX.md',
    max_visits: 'FIX.md',
    stuck: 'FIX.md',
  };
  const NO_RETRIES = { retries: 0, reminders: 0 };

  test.each<[GuardOutcome, string | object, string]>([
    ['timeout', fail('timeout'), 'START.md: it was timeout (tried 1 time)'],
    ['too_long', fail('prompt_too_long'), 'START.md: it was prompt_too_long'],
    ['no_tag', 'no tag', 'START.md: no valid answer after 0 reminders: it contains no tag'],
  ])('%s leads a prompt to the state of its own guard, which is told what happened', (outcome, reply, message) => {
    const driver = new RunDriver(promptWith({ on: ALL }), NO_RETRIES).answer(reply);
    expect(driver.agent()).toMatchObject({ state: 'FIX.md', error: message, phase: { kind: 'ready' } });
    expect(driver.eventsOf('transition')).toMatchObject([
      { state: 'START.md', to: 'FIX.md', tags: [], implicit: false, guard: { outcome, message } },
    ]);
    expect(due(driver.run)).toMatchObject([{ state: 'FIX.md', error: message, variables: { error: message } }]);
    expect(driver.run.status).toBe('running');
  });

  test('denied: the tools that were denied are told', () => {
    const driver = new RunDriver(promptWith({ on: ALL }), NO_RETRIES).answer({ text: '', denials: ['Bash(make)'] });
    const message =
      'START.md: no valid answer after 0 reminders; Bash(make) was not permitted: to permit it, put `allowed_tools: ["Bash(make)"]` into START.md, or choose another --permission-mode';
    expect(driver.eventsOf('transition')).toMatchObject([{ to: 'FIX.md', guard: { outcome: 'denied', message } }]);
  });

  test.each<[FailureKind, string]>([
    ['timeout', 'FIX.md'],
    ['no_answer', 'FIX.md'],
    ['script', 'OTHER.md'],
  ])('a script with the failure %s continues in %s', (kind, to) => {
    const driver = new RunDriver(scriptWith({ on: ALL })).answer(fail(kind));
    expect(driver.agent()).toMatchObject({ state: to, error: `CHECK.sh: it was ${kind}` });
    expect(driver.eventsOf('agent_failed')).toStrictEqual([]);
  });

  test.each<FailureKind>(['transient', 'timeout', 'refusal', 'max_turns', 'prompt_too_long', 'session_lost'])(
    '`error` catches %s if nothing else does',
    (kind) => {
      const driver = new RunDriver(promptWith({ on: { error: 'OTHER.md' } }), NO_RETRIES).answer(fail(kind));
      expect(driver.agent()).toMatchObject({ state: 'OTHER.md' });
    },
  );

  test.each<FailureKind>(['authentication', 'billing', 'model', 'invalid_request', 'disk', 'interrupted'])(
    'only the user can do something about %s, so the agent pauses in spite of guards',
    (kind) => {
      const driver = new RunDriver(promptWith({ on: ALL }), NO_RETRIES).answer(fail(kind));
      expect(driver.agent()).toMatchObject({ state: 'START.md', phase: { kind: 'paused', why: kind } });
    },
  );

  test('`error` does not catch `max_visits`: a limit that leads back into its loop would be none', () => {
    const loop = scriptWith({ on: { error: 'FIX.md' } }, { maxVisits: 1 });
    const driver = new RunDriver(loop).answer(fail('script'), '<goto>CHECK</goto>');
    expect(driver.begin('main')).toBe(false);
    expect(driver.agent().phase).toStrictEqual({ kind: 'limited', maxVisits: 1 });
  });

  test('the next state continues in the same conversation and with the same input', () => {
    const workflow = { ...promptWith({ on: { error: 'FIX.md' } }), files: ['OTHER.md', 'START.md', 'FIX.md'] };
    const driver = new RunDriver(workflow, NO_RETRIES)
      .answer('<goto input="the plan">START</goto>', { ...fail('max_turns'), progress: 'answer' })
      .answer('<result>x</result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1', 'resume s1']);
    expect(driver.turns.at(-1)).toMatchObject({ state: 'FIX.md', input: 'the plan' });
  });

  test.each<FailureKind>(['prompt_too_long', 'refusal'])('after %s it continues in a new one', (kind) => {
    const driver = new RunDriver(promptWith({ on: { error: 'FIX.md' } }), NO_RETRIES)
      .answer({ ...fail(kind), progress: 'answer' })
      .answer('<result>x</result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'new s2']);
    expect(driver.eventsOf('transition')[0]).toMatchObject({ tag: 'reset', to: 'FIX.md' });
  });

  test('{{error}} is gone once the agent has moved on, and a call comes back to its caller', () => {
    const workflow = { files, rules: { 'SUB.md': guardsOf({ on: { error: 'FIX.md' } }) } };
    const driver = new RunDriver(workflow, NO_RETRIES).answer('<call return="OTHER">SUB</call>', fail('transient'));
    expect(driver.agent()).toMatchObject({ state: 'FIX.md', stack: [{ state: 'OTHER.md' }] });
    driver.answer('<result>mended</result>');
    expect(driver.agent()).toMatchObject({ state: 'OTHER.md', input: 'mended', error: null, stack: [] });
  });
});

describe('retry', () => {
  test('a script that fails is tried again after a growing delay, and only then a guard leads elsewhere', () => {
    const driver = new RunDriver(scriptWith({ retry: 2, on: { error: 'FIX.md' } }));
    driver.answer(fail('script')).wake('main').answer(fail('script')).wake('main').answer(fail('script'));
    expect(driver.eventsOf('sleeping')).toMatchObject([
      { why: 'retry', failure: 'script', count: 1, untilMs: 1020 + 1000 },
      { why: 'retry', failure: 'script', count: 2, untilMs: 1040 + 2000 },
    ]);
    expect(driver.agent()).toMatchObject({ state: 'FIX.md', error: 'CHECK.sh: it was script (tried 3 times)' });
    expect(driver.agent().visits).toStrictEqual({ 'CHECK.sh': 1 });
  });

  test('how often it was tried stands before what it printed', () => {
    const driver = new RunDriver(scriptWith({ retry: 0 })).answer(
      fail('script', 'exit code 1\nno such file\nstopping'),
    );
    const message = 'CHECK.sh: exit code 1 (tried 1 time)\nno such file\nstopping';
    expect(driver.agent().phase).toStrictEqual({ kind: 'failed', message });
  });

  test('an answer that stays invalid counts as a failure: the prompt is sent again, with all its reminders', () => {
    const driver = new RunDriver(promptWith({ retry: 1 }, { policy }), { reminders: 1 });
    driver.answer('?', '?').wake('main');
    expect(driver.agent()).toMatchObject({ reminders: 0, phase: { kind: 'ready', prompt: { kind: 'state' } } });
    driver.answer('?', '?');
    expect(driver.agent().phase).toStrictEqual({
      kind: 'failed',
      message: 'START.md: no valid answer after 1 reminder: it contains no tag (tried 2 times)',
    });
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1', 'resume s1', 'resume s1']);
  });

  test('`retry: 0` overrides the retries of the run', () => {
    const driver = new RunDriver(promptWith({ retry: 0 })).answer(fail('transient'));
    expect(driver.agent().phase).toMatchObject({ kind: 'failed' });
  });

  test('without it a script is not tried again', () => {
    const driver = new RunDriver(scriptWith({})).answer(fail('timeout'));
    expect(driver.agent().phase).toStrictEqual({ kind: 'failed', message: 'CHECK.sh: it was timeout' });
  });
});

describe('max_visits', () => {
  test('the guard leads past the state instead of stopping the agent', () => {
    const loop = scriptWith({ on: { max_visits: 'OTHER.md' } }, { maxVisits: 2 });
    const driver = new RunDriver(loop).answer('<goto>CHECK</goto>', '<goto>CHECK</goto>');
    expect(driver.begin('main')).toBe(false);
    const message = 'CHECK.sh was entered 2 times, as often as max_visits allows';
    expect(driver.agent()).toMatchObject({ state: 'OTHER.md', error: message, refused: ['CHECK.sh'] });
    expect(driver.eventsOf('visit_limit')).toStrictEqual([]);
    driver.answer('<result>gave up</result>');
    expect(driver.run.status).toBe('completed');
    expect(driver.agent().refused).toStrictEqual([]);
  });

  test('states that lead past each other forever stop the agent, without a single turn', () => {
    const rules = (to: string) => ({ ...guardsOf({ on: { max_visits: to } }), maxVisits: 1 });
    const workflow = { files: ['A.sh', 'B.sh'], rules: { 'A.sh': rules('B.sh'), 'B.sh': rules('A.sh') } };
    const driver = new RunDriver(workflow).answer('<goto>B</goto>', '<goto>A</goto>');
    for (const _ of [1, 2, 3]) expect(driver.begin('main')).toBe(false);
    expect(driver.agent()).toMatchObject({ state: 'A.sh', phase: { kind: 'limited', maxVisits: 1 } });
    expect(driver.run.status).toBe('iteration_limit');
    expect(driver.agent().turns).toBe(2);
  });

  test('per call, each call has visits of its own', () => {
    const workflow = {
      files: ['LOOP.sh', 'ITEM.sh'],
      rules: { 'ITEM.sh': { maxVisits: 2, ...guardsOf({ maxVisitsPer: 'call' }) } },
    };
    const driver = new RunDriver(workflow);
    for (const _ of [1, 2, 3])
      driver.answer('<call return="LOOP">ITEM</call>', '<goto>ITEM</goto>', '<result>x</result>');
    expect(driver.agent()).toMatchObject({ state: 'LOOP.sh', visits: { 'ITEM.sh': 6 }, callVisits: {} });
    driver.answer('<call return="LOOP">ITEM</call>', '<goto>ITEM</goto>', '<goto>ITEM</goto>');
    expect(driver.begin('main')).toBe(false);
    expect(driver.agent().phase).toStrictEqual({ kind: 'limited', maxVisits: 2 });
  });

  test('a call does not change what its caller has counted', () => {
    const per = { maxVisits: 2, ...guardsOf({ maxVisitsPer: 'call' }) };
    const driver = new RunDriver({ files: ['A.sh', 'B.sh'], rules: { 'A.sh': per, 'B.sh': per } });
    driver.answer('<goto>A</goto>', '<call return="B">A</call>', '<goto>A</goto>');
    expect(driver.agent()).toMatchObject({ callVisits: { 'A.sh': 1 }, stack: [{ callVisits: { 'A.sh': 2 } }] });
    driver.answer('<result>x</result>').begin('main');
    expect(driver.agent().callVisits).toStrictEqual({ 'A.sh': 2, 'B.sh': 1 });
  });
});

describe('stuck_after', () => {
  const stuck = { after: 3, files: null };
  const round = (fingerprint: string) => [{ text: '<goto>FIX</goto>', fingerprint }, { text: '<goto>CHECK</goto>' }];

  test('the third visit in a row that ends alike is not followed', () => {
    const driver = new RunDriver(scriptWith({ stuck, on: { stuck: 'OTHER.md' } }));
    driver.answer(...round('a'), ...round('b'), ...round('b'));
    expect(driver.agent().streaks).toStrictEqual({ 'CHECK.sh': { fingerprint: 'b', visits: 2 } });
    driver.answer(...round('b').slice(0, 1));
    const message =
      'CHECK.sh: no progress in 3 visits in a row: each ended with the same answer, and nothing has changed';
    expect(driver.agent()).toMatchObject({ state: 'OTHER.md', error: message, streaks: {} });
    expect(driver.eventsOf('transition').at(-1)).toMatchObject({ guard: { outcome: 'stuck', message } });
  });

  test('without a guard the agent fails, and a retry starts to count anew', () => {
    const driver = new RunDriver(scriptWith({ stuck })).answer(...round('a'), ...round('a'), ...round('a').slice(0, 1));
    expect(driver.agent().phase).toMatchObject({ kind: 'failed' });
    driver.resume({}, true).answer(...round('a').slice(0, 1));
    expect(driver.agent()).toMatchObject({ state: 'FIX.md', streaks: { 'CHECK.sh': { visits: 1 } } });
  });

  test('an answer whose fingerprint is not known counts for nothing', () => {
    const driver = new RunDriver(scriptWith({ stuck: { after: 2, files: null } }));
    driver.answer(...round('a'), '<goto>FIX</goto>', '<goto>CHECK</goto>');
    expect(driver.agent().streaks).toStrictEqual({ 'CHECK.sh': { fingerprint: 'a', visits: 1 } });
  });

  test('an answer that the budget withheld keeps its fingerprint', () => {
    const cost = { kind: 'reported', micros: 1_000_000 } as const;
    const driver = new RunDriver(promptWith({ stuck: { after: 1, files: null } }), { budgetMicros: 500_000 });
    driver.answer({ text: '<goto>FIX</goto>', cost, fingerprint: 'a' });
    expect(driver.agent().phase).toMatchObject({ kind: 'withheld', fingerprint: 'a' });
    driver.resume({ budgetMicros: 5_000_000 });
    expect(driver.agent().phase).toMatchObject({ kind: 'failed' });
  });
});
