import { describe, expect, test } from 'vitest';
import { due } from '../../src/core/turns/due.ts';
import { backOffMs, type FailureKind, REACTIONS } from '../../src/language/failure.ts';
import type { PolicyEntry } from '../../src/language/policy.ts';
import { RunDriver, usd } from './run-driver.ts';

const policy: PolicyEntry[] = [
  { tag: 'goto', target: 'A', attributes: {} },
  { tag: 'result', target: null, attributes: {} },
];
const files = ['START.md', 'A.md', 'S.sh'];
const WITH_POLICY = { files, rules: { 'START.md': { policy } } };
const fail = (kind: FailureKind, more: object = {}) => ({ fail: { kind, message: `it was ${kind}`, ...more } });

describe('reminders', () => {
  test('a state with a policy is reminded three times in its own conversation, then its agent fails', () => {
    const driver = new RunDriver(WITH_POLICY).answer('?', '<goto>B</goto>', '<goto>START</goto>');
    expect(driver.eventsOf('reminded').map(({ problem, count }) => [problem, count])).toStrictEqual([
      ['no_tag', 1],
      ['bad_state', 2],
      ['not_permitted', 3],
    ]);
    expect(driver.run.status).toBe('running');
    driver.answer('still nothing');
    expect(driver.run.status).toBe('failed');
    expect(driver.agent().phase).toStrictEqual({
      kind: 'failed',
      message: 'START.md: no valid answer after 3 reminders: it contains no tag',
    });
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1', 'resume s1', 'resume s1']);
  });

  test('a state without a policy is reminded once', () => {
    const driver = new RunDriver({ files }).answer('?', '?');
    expect(driver.eventsOf('reminded')).toHaveLength(1);
    expect(driver.eventsOf('agent_failed')).toMatchObject([
      { message: 'START.md: no valid answer after 1 reminder: it contains no tag' },
    ]);
  });

  test('a transition resets the count', () => {
    const driver = new RunDriver(WITH_POLICY, { reminders: 1 }).answer(
      '?',
      '<goto>A</goto>',
      '?',
      '<goto>START</goto>',
      '?',
    );
    expect(driver.run.status).toBe('running');
    expect(driver.eventsOf('reminded').map(({ count }) => count)).toStrictEqual([1, 1, 1]);
  });

  test('the reminder lists the permitted tags and the problem', () => {
    const driver = new RunDriver(WITH_POLICY).answer('<reset>A</reset>');
    const [turn] = due(driver.run);
    expect(turn).toMatchObject({ kind: 'claude', number: 2, prompt: { kind: 'reminder' } });
    const text = turn?.kind === 'claude' && turn.prompt.kind === 'reminder' ? turn.prompt.text : '';
    expect(text).toContain('`<reset>A</reset>` (line 1) is not permitted here');
    expect(text).toContain('<goto>A</goto>');
    expect(text).toContain('<result>your result</result>');
  });

  test.each([
    ['no tag here', 'it contains no tag; it printed:\nno tag here'],
    ['1\n2\n\n3\n4\n5\n6\n', 'it contains no tag; it printed:\n2\n3\n4\n5\n6'],
    [' \n', 'it printed nothing'],
    ['<goto>S</goto><goto>T</goto>', 'found 2 tags: `<goto>S</goto>` (line 1) and `<goto>T</goto>` (line 1)'],
  ])('a script is not reminded: its agent fails, and the message after %j has the reason', (text, why) => {
    const driver = new RunDriver({ files: ['S.sh'] }).answer(text);
    const message = `S.sh: no next step is found in its output: ${why}`;
    expect(driver.agent().phase).toStrictEqual({ kind: 'failed', message });
  });

  test.each([
    ['<goto>NEXT</goto>', {}, { files: ['S.sh', 'NEXT.sh'] }, {}],
    ['<reset cd="d">S</reset>', { d: null }, { files: ['S.sh'] }, { main: { d: '/w/d' } }],
  ])('the answer %j of a script is kept until what it names exists', (text, folders, mended, foldersNow) => {
    const workflow = { files: ['S.sh'] };
    const driver = new RunDriver(workflow).answer({ text, folders }).resume();
    expect(driver.run.status).toBe('paused');
    expect(driver.agent().phase).toMatchObject({ kind: 'paused', why: 'unfollowable', answer: text });
    Object.assign(workflow, mended);
    driver.resume({}, true, foldersNow);
    expect([driver.run.status, driver.agent().phase.kind, driver.agent().turns]).toStrictEqual(['running', 'ready', 1]);
    expect(driver.eventsOf('transition')).toHaveLength(1);
  });

  test('a retry runs the script again whose answer still cannot be followed', () => {
    const driver = new RunDriver({ files: ['S.sh'] })
      .answer('<goto>NEXT</goto>')
      .resume({}, true)
      .answer('<result>x</result>');
    expect([driver.run.status, driver.agent().turns]).toStrictEqual(['completed', 2]);
  });

  test('a missing folder causes a reminder', () => {
    const driver = new RunDriver({ files }).answer({ text: '<reset cd="nope">A</reset>', folders: { nope: null } });
    expect(driver.eventsOf('reminded')).toMatchObject([{ problem: 'no_folder' }]);
  });
});

describe('a full disk', () => {
  const dear = { kind: 'reported', micros: 1_000_000 } as const;

  test('pauses the agent, charges at least what such a turn costs, and says that this is an estimate', () => {
    const driver = new RunDriver({ files })
      .answer({ text: '<goto>A</goto>', cost: dear })
      .answer({ fail: { kind: 'disk', message: 'full' }, cost: { kind: 'estimated', micros: 7 }, progress: 'answer' });
    expect([driver.run.status, driver.agent().phase]).toMatchObject(['paused', { kind: 'paused', why: 'disk' }]);
    expect(driver.run.ledger).toMatchObject({ spentMicros: 2_000_000, estimatedMicros: 1_000_000 });
    driver.resume();
    expect(driver.agent().phase).toMatchObject({ kind: 'ready', prompt: { kind: 'continue' } });
  });

  test('costs nothing if the turn could not start', () => {
    const driver = new RunDriver({ files })
      .answer({ text: '<goto>A</goto>', cost: dear })
      .answer({ fail: { kind: 'disk', message: 'full' } });
    expect([driver.run.status, driver.run.ledger.spentMicros]).toStrictEqual(['paused', 1_000_000]);
  });
});

describe('denied tools', () => {
  const only = { files, rules: { 'START.md': { policy: policy.slice(0, 1) } } };
  const denials = ['Bash', 'Bash', 'WebFetch'];

  test('no implicit transition is taken: the agent is reminded and must write the tag', () => {
    const driver = new RunDriver(only).answer({ text: 'could not run it', denials });
    expect(driver.eventsOf('reminded')).toMatchObject([
      { problem: 'tools_denied', message: 'the use of Bash, WebFetch was not permitted' },
    ]);
    driver.answer('well');
    expect(driver.eventsOf('reminded')).toHaveLength(2);
    driver.answer('<goto>A</goto>');
    expect(driver.eventsOf('transition')).toMatchObject([{ to: 'A.md', implicit: false }]);
  });

  test('an explicit tag is followed', () => {
    const driver = new RunDriver(only).answer({ text: '<goto>A</goto>', denials });
    expect(driver.agent().state).toBe('A.md');
    expect(driver.eventsOf('turn_ended')).toMatchObject([{ denials }]);
  });

  test('a forced transition is not taken either, not even with its tag: after the reminder the tag takes it', () => {
    const forced = { files, rules: { 'START.md': { policy: policy.slice(0, 1), forceImplicit: true } } };
    const driver = new RunDriver(forced).answer({ text: '<goto>A</goto>', denials });
    expect(driver.eventsOf('reminded')).toMatchObject([{ problem: 'tools_denied' }]);
    driver.answer('<result>x</result>');
    expect(driver.eventsOf('reminded')).toMatchObject([{}, { problem: 'not_permitted' }]);
    driver.answer('<goto>A</goto>');
    expect(driver.eventsOf('transition')).toMatchObject([{ to: 'A.md', implicit: false }]);
  });
});

describe('a repeatable script', () => {
  const scripts = { files: ['START.sh'], rules: { 'START.sh': { repeatable: true } } };
  const killed = { fail: { kind: 'interrupted', message: 'the script was killed midway' } } as const;

  test('that was killed runs again by itself, and a warning says so', () => {
    const driver = new RunDriver(scripts).answer(killed);
    expect(driver.agent().phase.kind).toBe('ready');
    expect(driver.eventsOf('warning')).toMatchObject([
      { message: 'START.sh was interrupted and runs again: it is repeatable' },
    ]);
    driver.answer('<result>r</result>');
    expect(driver.run.status).toBe('completed');
  });

  test('that is killed again and again pauses, and a resume needs no --retry', () => {
    const driver = new RunDriver(scripts);
    for (let i = 0; i < 4; i++) driver.answer(killed);
    expect(driver.run.status).toBe('paused');
    driver.resume();
    expect(driver.agent().phase.kind).toBe('ready');
  });
});

describe('retries', () => {
  test('a transient failure is retried three times with growing delays, then the agent fails', () => {
    const driver = new RunDriver({ files });
    for (let i = 0; i < 3; i++) driver.answer(fail('transient')).wake('main');
    expect(driver.eventsOf('sleeping').map(({ at, untilMs, count }) => [untilMs - at, count])).toStrictEqual([
      [1000, 1],
      [2000, 2],
      [4000, 3],
    ]);
    driver.answer(fail('timeout'));
    expect(driver.agent().phase).toStrictEqual({ kind: 'failed', message: 'START.md: it was timeout (tried 4 times)' });
  });

  test.each([
    ['none', 'state', ['new s1', 'new s2']],
    ['prompt', 'state', ['new s1', 'resume s1']],
    ['answer', 'continue', ['new s1', 'resume s1']],
  ] as const)('with %s left of the conversation the retry says %s', (progress, prompt, sessions) => {
    const driver = new RunDriver({ files }).answer({ ...fail('transient'), progress }).wake('main');
    expect(due(driver.run)).toMatchObject([{ prompt: { kind: prompt } }]);
    driver.answer('<result>x</result>');
    expect(driver.sessionsUsed).toStrictEqual(sessions);
  });

  test('a reminder that failed is sent again', () => {
    const driver = new RunDriver(WITH_POLICY).answer('?', fail('transient')).wake('main');
    expect(due(driver.run)).toMatchObject([{ prompt: { kind: 'reminder' } }]);
  });

  test('a failed fork of a conversation is forked again', () => {
    const driver = new RunDriver({ files }).answer('<call return="A">START</call>', fail('transient')).wake('main');
    driver.answer('<result>x</result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'fork s1 s2', 'fork s1 s3']);
  });

  test('the cost of a failed turn is counted', () => {
    const driver = new RunDriver({ files }).answer({ ...fail('transient'), cost: usd(0.25) });
    driver.wake('main').answer({ ...fail('transient'), cost: { kind: 'estimated', micros: 5 } });
    expect(driver.run.ledger).toMatchObject({ spentMicros: 250_005, estimatedMicros: 5, turns: 2 });
  });

  test('delays double up to two minutes and are spread over half their length', () => {
    expect([1, 2, 3, 7, 99].map((retry) => backOffMs(retry, 0))).toStrictEqual([1000, 2000, 4000, 60_000, 60_000]);
    expect(backOffMs(1, 0.999)).toBeLessThanOrEqual(2000);
  });
});

describe('usage limits', () => {
  const workflow = { files: ['START.md', 'A.md', 'S.sh'] };
  const limit = (untilMs: number) => ({ fail: { kind: 'usage_limit', message: 'limit', untilMs } as const });

  function three(options = {}): RunDriver {
    const driver = new RunDriver(workflow, options).answer('<fork next="START">A</fork><fork next="START">S</fork>');
    driver.begin('main');
    return driver;
  }

  test('hold every Claude turn of the run until the reset, let scripts continue, and are not retries', () => {
    const driver = three().reply('main', limit(99_000));
    expect(due(driver.run)).toMatchObject([
      { kind: 'sleep', agent: 'main', untilMs: 99_000 },
      { kind: 'script', agent: 'main_s2' },
    ]);
    driver.wake('main');
    expect(driver.agent().retries).toBe(0);
    expect(due(driver.run).map(({ agent, kind }) => [agent, kind])).toStrictEqual([
      ['main_s2', 'script'],
      ['main_a1', 'claude'],
      ['main', 'claude'],
    ]);
  });

  test('the latest of several resets counts', () => {
    const driver = three();
    driver.begin('main_a1');
    driver.reply('main', limit(50_000)).reply('main_a1', limit(99_000)).wake('main');
    expect(driver.run.hold).toMatchObject({ untilMs: 99_000 });
    expect(due(driver.run).map(({ kind }) => kind)).toStrictEqual(['sleep', 'script']);
    expect(driver.wake('main_a1').run.hold).toBe(null);
  });

  test('pause the run with --no-wait', () => {
    const driver = three({ wait: false });
    driver.begin('main_s2');
    driver.reply('main', limit(50_000));
    expect(driver.run.status).toBe('running');
    driver.reply('main_s2', '<goto>A</goto>');
    expect(driver.run.status).toBe('paused');
    driver.resume();
    expect(driver.run.status).toBe('running');
    expect(due(driver.run)).toHaveLength(3);
  });
});

describe('rejected credentials', () => {
  test('pause the agent immediately if they have never worked', () => {
    expect(new RunDriver({ files }).answer(fail('authentication')).run.status).toBe('paused');
  });

  test('hold all agents while one retries, if they have worked before: they may be about to be replaced', () => {
    const driver = new RunDriver({ files }).answer(
      { text: '<fork next="START">A</fork>', cost: usd(1) },
      fail('authentication'),
    );
    expect(due(driver.run).map(({ kind, agent }) => [kind, agent])).toStrictEqual([['sleep', 'main']]);
    driver.wake('main');
    expect(due(driver.run).map(({ agent }) => agent)).toStrictEqual(['main_a1', 'main']);
    driver.answer('<result>x</result>').runTurn('main_a1', '<result>y</result>');
    expect(driver.run.status).toBe('completed');
  });

  test('pause the agent if they keep being rejected', () => {
    const driver = new RunDriver({ files }, { retries: 1 }).answer({ text: '<goto>A</goto>', cost: usd(1) });
    driver.answer(fail('authentication')).wake('main').answer(fail('authentication'));
    expect(driver.eventsOf('agent_paused')).toMatchObject([{ why: 'authentication' }]);
    expect(driver.resume().answer('<result>x</result>').run.status).toBe('completed');
  });
});

describe('a lost conversation', () => {
  test('is forked, then abandoned, with an event for each step, always with the whole prompt', () => {
    const driver = new RunDriver(WITH_POLICY).answer('?', fail('session_lost'), fail('session_lost'));
    expect(driver.eventsOf('session_lost').map(({ session, next }) => [session, next])).toStrictEqual([
      ['s1', 'fork'],
      ['s1', 'new'],
    ]);
    expect(due(driver.run)).toMatchObject([{ prompt: { kind: 'state' } }]);
    driver.answer('<result>x</result>');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1', 'fork s1 s2', 'new s3']);
    expect(driver.run.iterations).toBe(1);
  });
});

describe('a problem that only the user can fix', () => {
  const pausing = (Object.keys(REACTIONS) as FailureKind[]).filter((kind) => REACTIONS[kind] === 'pause');

  test.each(pausing)('%s pauses the agent in its state; a resume continues there', (kind) => {
    const driver = new RunDriver({ files }).answer({ ...fail(kind), progress: 'prompt' });
    expect(driver.run.status).toBe('paused');
    expect(driver.eventsOf('agent_paused')).toMatchObject([{ why: kind, message: `it was ${kind}` }]);
    driver.resume({}, kind === 'interrupted').answer('<result>x</result>');
    expect(driver.run.status).toBe('completed');
    expect(driver.sessionsUsed).toStrictEqual(['new s1', 'resume s1']);
  });

  test('a script that was killed runs again only with --retry', () => {
    const driver = new RunDriver({ files: ['S.sh'] }).answer(fail('interrupted')).resume();
    expect(driver.run.status).toBe('paused');
    expect(driver.resume({}, true).answer('<result>x</result>').run.status).toBe('completed');
  });

  test.each(['lost', 'stopped'] as const)('a %s turn is started again, and is not a retry', (kind) => {
    const driver = new RunDriver({ files }).answer({ ...fail(kind), progress: 'answer' });
    expect(driver.agent()).toMatchObject({ retries: 0, phase: { kind: 'ready', prompt: { kind: 'continue' } } });
  });

  test('an unreadable file pauses the agent and is not an execution', () => {
    const driver = new RunDriver({ files });
    driver.apply({ kind: 'unreadable', at: 2000, agent: 'main', message: 'START.md:2:1: bad' });
    expect(driver.run).toMatchObject({ status: 'paused', iterations: 0 });
    expect(driver.resume().answer('<result>x</result>').run.status).toBe('completed');
  });

  test('an unreadable file does not affect a run that may enter no further state', () => {
    const driver = new RunDriver({ files }, { maxIterations: 1 }).answer('<goto>START</goto>');
    driver.apply({ kind: 'unreadable', at: 2000, agent: 'main', message: 'START.md:2:1: bad' });
    expect(driver.run).toMatchObject({ status: 'iteration_limit', iterations: 1 });
  });
});

describe('failed agents', () => {
  test('do not affect their siblings; the run ends failed when the last one has ended', () => {
    const driver = new RunDriver({ files }).answer('<fork next="S.sh">A</fork>', fail('script'));
    expect(driver.run.status).toBe('running');
    driver.runTurn('main_a1', '<result>fine</result>');
    expect(driver.run.status).toBe('failed');
  });

  test('stay failed at a resume, unless it retries them: with their session and stack, and new counters', () => {
    const driver = new RunDriver(WITH_POLICY, { reminders: 0 }).answer(
      '<goto>A</goto>',
      '<call return="A">START</call>',
      '?',
    );
    expect(driver.resume().run.status).toBe('failed');
    expect(driver.eventsOf('run_ended')).toHaveLength(1);
    driver.resume({ reminders: 3 }, true);
    expect(driver.agent()).toMatchObject({ reminders: 0, state: 'START.md', phase: { kind: 'ready' } });
    expect(driver.agent().stack).toHaveLength(1);
    driver.begin('main');
    expect(driver.sessionsUsed.at(-1)).toBe('resume s2');
  });
});

describe('a resume', () => {
  const interrupt = { kind: 'stopped', at: 5000, by: 'interrupted' } as const;

  test('completes a run whose last agent ended while it was stopping', () => {
    const driver = new RunDriver({ files });
    driver.begin('main');
    driver.apply(interrupt);
    driver.reply('main', '<result>x</result>');
    expect(driver.run.status).toBe('completed');
    expect(driver.resume().run.status).toBe('completed');
    expect(driver.eventsOf('run_resumed')).toHaveLength(0);
  });

  test('leaves a run paused if it has only an interrupted script', () => {
    const driver = new RunDriver({ files: ['S.sh'] });
    driver.begin('main');
    driver.apply(interrupt);
    driver.reply('main', fail('interrupted'));
    expect(driver.resume().run.status).toBe('paused');
  });

  test('takes new options even if no agent can continue', () => {
    const driver = new RunDriver({ files }, { budgetMicros: 1 }).answer({ ...fail('refusal'), cost: usd(1) });
    expect(driver.run.status).toBe('budget_exceeded');
    expect(driver.resume({ budgetMicros: 9_000_000 }).run).toMatchObject({
      status: 'failed',
      options: { budgetMicros: 9_000_000 },
    });
  });

  test('changes variables one by one', () => {
    const driver = new RunDriver({ files }, { variables: { a: '1', b: '2' } }).resume({ variables: { a: '3' } });
    expect(driver.run.options.variables).toStrictEqual({ a: '3', b: '2' });
  });

  test('is no new execution if it retries, and the costs of failed attempts are kept', () => {
    const rules = { 'START.md': { maxVisits: 1 } };
    const driver = new RunDriver({ files, rules }, { maxIterations: 1 }).answer({ ...fail('refusal'), cost: usd(1) });
    driver.resume({}, true).answer({ text: '<result>x</result>', cost: usd(2) });
    expect(driver.run).toMatchObject({ status: 'completed', iterations: 1 });
    expect(driver.eventsOf('transition')).toMatchObject([{ costMicros: 3_000_000 }]);
  });
});

describe('stopping on purpose', () => {
  test('is reported once, with the most severe reason, and so is the end', () => {
    const driver = new RunDriver({ files }).answer(fail('transient'));
    driver.apply({ kind: 'stopped', at: 5000, by: 'interrupted' });
    driver.apply({ kind: 'stopped', at: 5001, by: 'stopped' });
    driver.wake('main');
    expect(driver.eventsOf('run_stopping')).toMatchObject([{ stop: { kind: 'interrupted' } }]);
    expect(driver.eventsOf('run_ended')).toMatchObject([{ status: 'interrupted' }]);
  });

  test('starts nothing new, drops sleeping turns, and follows the answers of running turns', () => {
    const driver = new RunDriver({ files }).answer('<fork next="START">A</fork>', fail('transient'));
    driver.begin('main_a1');
    driver.apply({ kind: 'stopped', at: 5000, by: 'interrupted' });
    expect(due(driver.run).map(({ agent }) => agent)).toStrictEqual(['main_a1']);
    driver.reply('main_a1', '<goto>START</goto>');
    expect(driver.run.status).toBe('interrupted');
    expect(driver.agent('main_a1').state).toBe('START.md');
    driver.resume();
    expect(due(driver.run).map(({ kind }) => kind)).toStrictEqual(['sleep', 'claude']);
  });

  test('pauses the run if it comes from another process', () => {
    const driver = new RunDriver({ files });
    driver.apply({ kind: 'stopped', at: 5000, by: 'stopped' });
    expect(driver.run.status).toBe('paused');
  });

  test('prevents a turn that was about to begin', () => {
    const driver = new RunDriver({ files });
    driver.apply({ kind: 'stopped', at: 5000, by: 'interrupted' });
    driver.apply({
      kind: 'began',
      at: 5001,
      agent: 'main',
      sessionId: 'x',
      rules: { policy: [], maxVisits: null },
      warnings: [],
    });
    expect(driver.agent().phase.kind).toBe('ready');
  });

  test('an interruption takes precedence over a failure, and so does a limit', () => {
    const forked = () =>
      new RunDriver({ files }).answer('<fork next="START">S</fork>').runTurn('main_s1', fail('script'));
    const driver = forked();
    driver.apply({ kind: 'stopped', at: 5000, by: 'interrupted' });
    expect(driver.run.status).toBe('interrupted');
    const limited = forked().resume({ maxIterations: 2 });
    limited.begin('main');
    expect(limited.run.status).toBe('iteration_limit');
  });
});
