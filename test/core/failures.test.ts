import { describe, expect, test } from 'vitest';
import { due } from '../../src/core/due.ts';
import { backOffMs, type FailureKind, REACTIONS } from '../../src/core/failure.ts';
import type { PolicyEntry } from '../../src/core/policy.ts';
import { Stage, usd } from './play.ts';

const policy: PolicyEntry[] = [
  { tag: 'goto', target: 'A', attributes: {} },
  { tag: 'result', target: null, attributes: {} },
];
const files = ['START.md', 'A.md', 'S.sh'];
const WITH_POLICY = { files, rules: { 'START.md': { policy } } };
const fail = (kind: FailureKind, more: object = {}) => ({ fail: { kind, message: `it was ${kind}`, ...more } });

describe('reminders', () => {
  test('a state with a policy is reminded three times in its own conversation, then its agent fails', () => {
    const stage = new Stage(WITH_POLICY).plays('?', '<goto>B</goto>', '<goto>START</goto>');
    expect(stage.told('reminded').map(({ problem, count }) => [problem, count])).toStrictEqual([
      ['no_tag', 1],
      ['bad_state', 2],
      ['not_permitted', 3],
    ]);
    expect(stage.run.status).toBe('running');
    stage.plays('still nothing');
    expect(stage.run.status).toBe('failed');
    expect(stage.agent().phase).toStrictEqual({
      kind: 'failed',
      message: 'START.md: no valid answer after 3 reminders: it contains no tag',
    });
    expect(stage.sessionsUsed).toStrictEqual(['new s1', 'resume s1', 'resume s1', 'resume s1']);
  });

  test('a state without a policy is reminded once', () => {
    const stage = new Stage({ files }).plays('?', '?');
    expect(stage.told('reminded')).toHaveLength(1);
    expect(stage.told('agent_failed')).toMatchObject([
      { message: 'START.md: no valid answer after 1 reminder: it contains no tag' },
    ]);
  });

  test('moving on starts the count anew', () => {
    const stage = new Stage(WITH_POLICY, { reminders: 1 }).plays('?', '<goto>A</goto>', '?', '<goto>START</goto>', '?');
    expect(stage.run.status).toBe('running');
    expect(stage.told('reminded').map(({ count }) => count)).toStrictEqual([1, 1, 1]);
  });

  test('the reminder names the permitted tags and what was wrong', () => {
    const stage = new Stage(WITH_POLICY).plays('<reset>A</reset>');
    const [turn] = due(stage.run);
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
  ])('a script is not reminded: its agent fails, and after %j it says why', (text, why) => {
    const stage = new Stage({ files: ['S.sh'] }).plays(text);
    const message = `S.sh: no next step is found in its output: ${why}`;
    expect(stage.agent().phase).toStrictEqual({ kind: 'failed', message });
  });

  test('a folder that does not exist can be reminded of', () => {
    const stage = new Stage({ files }).plays({ text: '<reset cd="nope">A</reset>', folders: { nope: null } });
    expect(stage.told('reminded')).toMatchObject([{ problem: 'no_folder' }]);
  });
});

describe('denied tools', () => {
  const only = { files, rules: { 'START.md': { policy: policy.slice(0, 1) } } };
  const denials = ['Bash', 'Bash', 'WebFetch'];

  test('no implicit transition is taken: the agent is asked, and has to say it', () => {
    const stage = new Stage(only).plays({ text: 'could not run it', denials });
    expect(stage.told('reminded')).toMatchObject([
      { problem: 'tools_denied', message: 'the use of Bash, WebFetch was not permitted' },
    ]);
    stage.plays('well');
    expect(stage.told('reminded')).toHaveLength(2);
    stage.plays('<goto>A</goto>');
    expect(stage.told('transition')).toMatchObject([{ to: 'A.md', implicit: false }]);
  });

  test('an explicit tag is followed', () => {
    const stage = new Stage(only).plays({ text: '<goto>A</goto>', denials });
    expect(stage.agent().state).toBe('A.md');
    expect(stage.told('turn_ended')).toMatchObject([{ denials }]);
  });
});

describe('retries', () => {
  test('a transient failure is tried three times more, each after a longer sleep, then the agent fails', () => {
    const stage = new Stage({ files });
    for (let i = 0; i < 3; i++) stage.plays(fail('transient')).wake('main');
    expect(stage.told('sleeping').map(({ at, untilMs, count }) => [untilMs - at, count])).toStrictEqual([
      [1000, 1],
      [2000, 2],
      [4000, 3],
    ]);
    stage.plays(fail('timeout'));
    expect(stage.agent().phase).toStrictEqual({ kind: 'failed', message: 'START.md: it was timeout (tried 4 times)' });
  });

  test.each([
    ['none', 'state', ['new s1', 'new s2']],
    ['prompt', 'state', ['new s1', 'resume s1']],
    ['answer', 'continue', ['new s1', 'resume s1']],
  ] as const)('with %s left of the conversation the next try says %s', (progress, prompt, sessions) => {
    const stage = new Stage({ files }).plays({ ...fail('transient'), progress }).wake('main');
    expect(due(stage.run)).toMatchObject([{ prompt: { kind: prompt } }]);
    stage.plays('<result>x</result>');
    expect(stage.sessionsUsed).toStrictEqual(sessions);
  });

  test('a reminder that failed is sent again', () => {
    const stage = new Stage(WITH_POLICY).plays('?', fail('transient')).wake('main');
    expect(due(stage.run)).toMatchObject([{ prompt: { kind: 'reminder' } }]);
  });

  test('a failed fork of a conversation is forked again', () => {
    const stage = new Stage({ files }).plays('<call return="A">START</call>', fail('transient')).wake('main');
    stage.plays('<result>x</result>');
    expect(stage.sessionsUsed).toStrictEqual(['new s1', 'fork s1 s2', 'fork s1 s3']);
  });

  test('the cost of a failed turn is counted', () => {
    const stage = new Stage({ files }).plays({ ...fail('transient'), cost: usd(0.25) });
    stage.wake('main').plays({ ...fail('transient'), cost: { kind: 'estimated', micros: 5 } });
    expect(stage.run.ledger).toMatchObject({ spentMicros: 250_005, estimatedMicros: 5, turns: 2 });
  });

  test('delays double up to two minutes and are spread over half their length', () => {
    expect([1, 2, 3, 7, 99].map((retry) => backOffMs(retry, 0))).toStrictEqual([1000, 2000, 4000, 60_000, 60_000]);
    expect(backOffMs(1, 0.999)).toBeLessThanOrEqual(2000);
  });
});

describe('usage limits', () => {
  const book = { files: ['START.md', 'A.md', 'S.sh'] };
  const limit = (untilMs: number) => ({ fail: { kind: 'usage_limit', message: 'limit', untilMs } as const });

  function three(options = {}): Stage {
    const stage = new Stage(book, options).plays('<fork next="START">A</fork><fork next="START">S</fork>');
    stage.begin('main');
    return stage;
  }

  test('hold every Claude turn of the run until the reset, let scripts go on, and count as no retry', () => {
    const stage = three().reply('main', limit(99_000));
    expect(due(stage.run)).toMatchObject([
      { kind: 'sleep', agent: 'main', untilMs: 99_000 },
      { kind: 'script', agent: 'main_s2' },
    ]);
    stage.wake('main');
    expect(stage.agent().retries).toBe(0);
    expect(due(stage.run).map(({ agent, kind }) => [agent, kind])).toStrictEqual([
      ['main_s2', 'script'],
      ['main_a1', 'claude'],
      ['main', 'claude'],
    ]);
  });

  test('the latest of several resets counts', () => {
    const stage = three();
    stage.begin('main_a1');
    stage.reply('main', limit(50_000)).reply('main_a1', limit(99_000)).wake('main');
    expect(stage.run.hold).toMatchObject({ untilMs: 99_000 });
    expect(due(stage.run).map(({ kind }) => kind)).toStrictEqual(['sleep', 'script']);
    expect(stage.wake('main_a1').run.hold).toBe(null);
  });

  test('pause the run where nobody wants to wait', () => {
    const stage = three({ wait: false });
    stage.begin('main_s2');
    stage.reply('main', limit(50_000));
    expect(stage.run.status).toBe('running');
    stage.reply('main_s2', '<goto>A</goto>');
    expect(stage.run.status).toBe('paused');
    stage.resume();
    expect(stage.run.status).toBe('running');
    expect(due(stage.run)).toHaveLength(3);
  });
});

describe('credentials that are refused', () => {
  test('pause the agent at once if they have never worked', () => {
    expect(new Stage({ files }).plays(fail('authentication')).run.status).toBe('paused');
  });

  test('hold everybody while one tries again, if they have worked before: they may only be changing hands', () => {
    const stage = new Stage({ files }).plays(
      { text: '<fork next="START">A</fork>', cost: usd(1) },
      fail('authentication'),
    );
    expect(due(stage.run).map(({ kind, agent }) => [kind, agent])).toStrictEqual([['sleep', 'main']]);
    stage.wake('main');
    expect(due(stage.run).map(({ agent }) => agent)).toStrictEqual(['main_a1', 'main']);
    stage.plays('<result>x</result>').take('main_a1', '<result>y</result>');
    expect(stage.run.status).toBe('completed');
  });

  test('pause the agent if they do not come back', () => {
    const stage = new Stage({ files }, { retries: 1 }).plays({ text: '<goto>A</goto>', cost: usd(1) });
    stage.plays(fail('authentication')).wake('main').plays(fail('authentication'));
    expect(stage.told('agent_paused')).toMatchObject([{ why: 'authentication' }]);
    expect(stage.resume().plays('<result>x</result>').run.status).toBe('completed');
  });
});

describe('a conversation that is gone', () => {
  test('is forked, then given up, each step told, always with the whole prompt', () => {
    const stage = new Stage(WITH_POLICY).plays('?', fail('session_lost'), fail('session_lost'));
    expect(stage.told('session_lost').map(({ session, next }) => [session, next])).toStrictEqual([
      ['s1', 'fork'],
      ['s1', 'new'],
    ]);
    expect(due(stage.run)).toMatchObject([{ prompt: { kind: 'state' } }]);
    stage.plays('<result>x</result>');
    expect(stage.sessionsUsed).toStrictEqual(['new s1', 'resume s1', 'fork s1 s2', 'new s3']);
    expect(stage.run.iterations).toBe(1);
  });
});

describe('what only a person can mend', () => {
  const pausing = (Object.keys(REACTIONS) as FailureKind[]).filter((kind) => REACTIONS[kind] === 'pause');

  test.each(pausing)('%s pauses the agent where it stands; a resume goes on there', (kind) => {
    const stage = new Stage({ files }).plays({ ...fail(kind), progress: 'prompt' });
    expect(stage.run.status).toBe('paused');
    expect(stage.told('agent_paused')).toMatchObject([{ why: kind, message: `it was ${kind}` }]);
    stage.resume({}, kind === 'interrupted').plays('<result>x</result>');
    expect(stage.run.status).toBe('completed');
    expect(stage.sessionsUsed).toStrictEqual(['new s1', 'resume s1']);
  });

  test('a script that died midway runs again only if the user says so', () => {
    const stage = new Stage({ files: ['S.sh'] }).plays(fail('interrupted')).resume();
    expect(stage.run.status).toBe('paused');
    expect(stage.resume({}, true).plays('<result>x</result>').run.status).toBe('completed');
  });

  test.each(['lost', 'stopped'] as const)('a %s turn is simply taken again, and counts as no retry', (kind) => {
    const stage = new Stage({ files }).plays({ ...fail(kind), progress: 'answer' });
    expect(stage.agent()).toMatchObject({ retries: 0, phase: { kind: 'ready', prompt: { kind: 'continue' } } });
  });

  test('a file that cannot be read pauses the agent and costs no execution', () => {
    const stage = new Stage({ files });
    stage.say({ kind: 'unreadable', at: 2000, agent: 'main', message: 'START.md:2:1: bad' });
    expect(stage.run).toMatchObject({ status: 'paused', iterations: 0 });
    expect(stage.resume().plays('<result>x</result>').run.status).toBe('completed');
  });

  test('a file that cannot be read does not matter to a run that may enter no state any more', () => {
    const stage = new Stage({ files }, { maxIterations: 1 }).plays('<goto>START</goto>');
    stage.say({ kind: 'unreadable', at: 2000, agent: 'main', message: 'START.md:2:1: bad' });
    expect(stage.run).toMatchObject({ status: 'iteration_limit', iterations: 1 });
  });
});

describe('failed agents', () => {
  test('leave their siblings alone; the run ends failed when the last one has ended', () => {
    const stage = new Stage({ files }).plays('<fork next="S.sh">A</fork>', fail('script'));
    expect(stage.run.status).toBe('running');
    stage.take('main_a1', '<result>fine</result>');
    expect(stage.run.status).toBe('failed');
  });

  test('stay failed at a resume, unless it retries them: with their session and stack, their counters cleared', () => {
    const stage = new Stage(WITH_POLICY, { reminders: 0 }).plays(
      '<goto>A</goto>',
      '<call return="A">START</call>',
      '?',
    );
    expect(stage.resume().run.status).toBe('failed');
    expect(stage.told('run_ended')).toHaveLength(1);
    stage.resume({ reminders: 3 }, true);
    expect(stage.agent()).toMatchObject({ reminders: 0, state: 'START.md', phase: { kind: 'ready' } });
    expect(stage.agent().stack).toHaveLength(1);
    stage.begin('main');
    expect(stage.sessionsUsed.at(-1)).toBe('resume s2');
  });
});

describe('a resume', () => {
  const interrupt = { kind: 'stopped', at: 5000, by: 'interrupted' } as const;

  test('of a run whose last agent ended while it was stopping finds nothing to do: it is completed', () => {
    const stage = new Stage({ files });
    stage.begin('main');
    stage.say(interrupt);
    stage.reply('main', '<result>x</result>');
    expect(stage.run.status).toBe('completed');
    expect(stage.resume().run.status).toBe('completed');
    expect(stage.told('run_resumed')).toHaveLength(0);
  });

  test('of a run with nothing but an interrupted script says that it is paused', () => {
    const stage = new Stage({ files: ['S.sh'] });
    stage.begin('main');
    stage.say(interrupt);
    stage.reply('main', fail('interrupted'));
    expect(stage.resume().run.status).toBe('paused');
  });

  test('takes new options even if nobody can go on', () => {
    const stage = new Stage({ files }, { budgetMicros: 1 }).plays({ ...fail('refusal'), cost: usd(1) });
    expect(stage.run.status).toBe('budget_exceeded');
    expect(stage.resume({ budgetMicros: 9_000_000 }).run).toMatchObject({
      status: 'failed',
      options: { budgetMicros: 9_000_000 },
    });
  });

  test('changes variables one by one', () => {
    const stage = new Stage({ files }, { variables: { a: '1', b: '2' } }).resume({ variables: { a: '3' } });
    expect(stage.run.options.variables).toStrictEqual({ a: '3', b: '2' });
  });

  test('that retries is no new execution, and what the failed tries cost is not forgotten', () => {
    const rules = { 'START.md': { maxVisits: 1 } };
    const stage = new Stage({ files, rules }, { maxIterations: 1 }).plays({ ...fail('refusal'), cost: usd(1) });
    stage.resume({}, true).plays({ text: '<result>x</result>', cost: usd(2) });
    expect(stage.run).toMatchObject({ status: 'completed', iterations: 1 });
    expect(stage.told('transition')).toMatchObject([{ costMicros: 3_000_000 }]);
  });
});

describe('stopping on purpose', () => {
  test('is told once, as the strongest reason, and so is the end', () => {
    const stage = new Stage({ files }).plays(fail('transient'));
    stage.say({ kind: 'stopped', at: 5000, by: 'interrupted' });
    stage.say({ kind: 'stopped', at: 5001, by: 'stopped' });
    stage.wake('main');
    expect(stage.told('run_stopping')).toMatchObject([{ stop: { kind: 'interrupted' } }]);
    expect(stage.told('run_ended')).toMatchObject([{ status: 'interrupted' }]);
  });

  test('starts nothing new, drops the sleeping, lets turns under way finish and be followed', () => {
    const stage = new Stage({ files }).plays('<fork next="START">A</fork>', fail('transient'));
    stage.begin('main_a1');
    stage.say({ kind: 'stopped', at: 5000, by: 'interrupted' });
    expect(due(stage.run).map(({ agent }) => agent)).toStrictEqual(['main_a1']);
    stage.reply('main_a1', '<goto>START</goto>');
    expect(stage.run.status).toBe('interrupted');
    expect(stage.agent('main_a1').state).toBe('START.md');
    stage.resume();
    expect(due(stage.run).map(({ kind }) => kind)).toStrictEqual(['sleep', 'claude']);
  });

  test('stopped from elsewhere is paused', () => {
    const stage = new Stage({ files });
    stage.say({ kind: 'stopped', at: 5000, by: 'stopped' });
    expect(stage.run.status).toBe('paused');
  });

  test('a turn that was about to begin does not', () => {
    const stage = new Stage({ files });
    stage.say({ kind: 'stopped', at: 5000, by: 'interrupted' });
    stage.say({
      kind: 'began',
      at: 5001,
      agent: 'main',
      sessionId: 'x',
      rules: { policy: [], maxVisits: null },
      warnings: [],
    });
    expect(stage.agent().phase.kind).toBe('ready');
  });

  test('an interruption outweighs a failure, and so does a limit', () => {
    const forked = () => new Stage({ files }).plays('<fork next="START">S</fork>').take('main_s1', fail('script'));
    const stage = forked();
    stage.say({ kind: 'stopped', at: 5000, by: 'interrupted' });
    expect(stage.run.status).toBe('interrupted');
    const limited = forked().resume({ maxIterations: 2 });
    limited.begin('main');
    expect(limited.run.status).toBe('iteration_limit');
  });
});
