import { expect, test } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import type { FailureKind } from '../../src/core/failure.ts';
import type { Agent, Run } from '../../src/core/run.ts';
import { charged, conversation, play, playOn, type Rig, type Scene, setUp, withEachClaude } from './rig.ts';

/** Claude Code's own retries are not what is tested here. */
const AT_ONCE = { CLAUDE_CODE_MAX_RETRIES: '0' };

/** A run with a worker for each of these ways to fail; each fails so once, and then has its result. */
function oneWorkerEach(fails: readonly string[], scene: Partial<Scene> = {}): Scene {
  const forks = fails.map((fail) => `<fork next="END" fail="${fail}">WORKER</fork>`).join('');
  return {
    env: AT_ONCE,
    ...scene,
    states: {
      'START.sh': `echo '${forks}'`,
      'END.sh': 'echo "<result>forked</result>"',
      'WORKER.md': 'I am {{fail}} «fail {{fail}} 1» «say <result>{{fail}} is over</result>»',
      ...scene.states,
    },
  };
}

const workers = ({ agents }: Run): readonly Agent[] => agents.filter(({ id }) => id !== 'main');

const results = (run: Run): readonly unknown[] =>
  workers(run).map(({ phase }) => (phase.kind === 'ended' ? phase.result : phase));

/** What each worker was told that has such a kind. */
function byWorker<T>(rig: Rig, run: Run, look: (event: Event) => T | undefined): readonly (readonly T[])[] {
  return workers(run).map(({ id }) =>
    rig.events
      .filter((event) => 'agent' in event && event.agent === id)
      .map(look)
      .filter((found) => found !== undefined),
  );
}

const failureIn = (event: Event): FailureKind | 'none' | undefined =>
  event.kind === 'turn_ended' ? (event.failure ?? 'none') : undefined;

const sessionIn = (event: Event): string | undefined =>
  event.kind === 'turn_started' ? `${event.prompt} ${event.session?.kind} ${event.session?.id}` : undefined;

withEachClaude('a run', (pinned) => {
  test('sleeps through a usage limit and nobody is asked until it is over', async (context) => {
    const reset = Math.floor(Date.now() / 1000) + 2;
    const rig = await setUp(
      context,
      pinned,
      oneWorkerEach([`limit 1 ${reset}`], {
        env: { ...AT_ONCE, ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'made-up' },
        states: { 'WORKER.md': 'I am limited «fail {{fail}}» «say <result>over</result>»' },
      }),
    );
    const run = await play(rig);
    expect([run.status, results(run), run.hold]).toStrictEqual(['completed', ['over'], null]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual([['usage_limit', 'none']]);
    const [slept] = rig.all('sleeping');
    const [, again] = rig.all('turn_started').filter(({ state }) => state === 'WORKER.md');
    expect(slept).toMatchObject({ why: 'usage_limit', untilMs: expect.any(Number) });
    expect(slept?.untilMs).toBeGreaterThan(reset * 1000);
    expect(again?.at).toBeGreaterThanOrEqual(slept?.untilMs ?? Number.POSITIVE_INFINITY);
    expect(again?.session).toMatchObject({ kind: 'resume' });
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('tries again what passes, in the same conversation', async (context) => {
    const fails = ['500', '529', 'overloaded', 'html', 'drop', 'dropmid', 'malformed', 'garbage', 'empty'];
    const rig = await setUp(context, pinned, oneWorkerEach(fails));
    const run = await play(rig);
    expect([run.status, results(run)]).toStrictEqual(['completed', fails.map((fail) => `${fail} is over`)]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual(fails.map(() => ['transient', 'none']));
    for (const [first, second] of byWorker(rig, run, sessionIn)) expect(second).toBe(first?.replace('new', 'resume'));
    expect(new Set(rig.all('sleeping').map(({ why, count }) => `${why} ${count}`))).toStrictEqual(new Set(['retry 1']));
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('pauses for what only its user can mend, and goes on when he has', async (context) => {
    const fails = ['401', '403', 'billing', '404', '400', 'toolong'];
    const why = ['authentication', 'authentication', 'billing', 'model', 'invalid_request', 'prompt_too_long'];
    const rig = await setUp(context, pinned, oneWorkerEach(fails));
    const paused = await play(rig);
    expect(paused.status).toBe('paused');
    expect(workers(paused).map(({ phase }) => phase.kind === 'paused' && phase.why)).toStrictEqual(why);
    const asked = rig.api.requests.length;
    const run = await playOn(rig);
    expect([run.status, results(run)]).toStrictEqual(['completed', fails.map((fail) => `${fail} is over`)]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual(why.map((kind) => [kind, 'none']));
    for (const [first, second] of byWorker(rig, run, sessionIn)) expect(second).toBe(first?.replace('new', 'resume'));
    expect(rig.api.requests.length).toBeGreaterThan(asked);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test.each(['limit', '429'])('pauses for a usage limit (%s) if it is not to wait', async (fail, context) => {
    const rig = await setUp(context, pinned, oneWorkerEach([fail], { options: { wait: false } }));
    const paused = await play(rig);
    expect([paused.status, paused.stop]).toMatchObject(['paused', { kind: 'usage_limit' }]);
    const run = await playOn(rig);
    expect([run.status, run.stop, results(run)]).toStrictEqual(['completed', null, [`${fail} is over`]]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual([['usage_limit', 'none']]);
    expect(rig.all('sleeping')).toStrictEqual([]);
  });

  test('gives up what does not pass, and lets the others finish', async (context) => {
    const rig = await setUp(
      context,
      pinned,
      oneWorkerEach(['500 *', 'refusal', '500 1'], {
        options: { retries: 1 },
        states: { 'WORKER.md': 'I am {{fail}} «fail {{fail}}» «say <result>over</result>»' },
        script: ({ messages }) =>
          // Newer versions ask once more in other words.
          JSON.stringify(messages).includes('I am refusal') ? { blocks: [], fail: { kind: 'refusal' } } : undefined,
      }),
    );
    const run = await play(rig);
    expect([run.status, results(run)]).toMatchObject([
      'failed',
      [
        { kind: 'failed', message: expect.stringMatching(/^WORKER\.md: .*500.*\(tried 2 times\)$/) },
        { kind: 'failed', message: expect.stringMatching(/^WORKER\.md: Claude declined to answer/) },
        'over',
      ],
    ]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual([
      ['transient', 'transient'],
      ['refusal'],
      ['transient', 'none'],
    ]);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('ends a turn whose API is silent, and tries it again', async (context) => {
    const fails = ['hang', 'hangmid'];
    const rig = await setUp(
      context,
      pinned,
      oneWorkerEach(fails, {
        states: {
          'WORKER.md': '---\ntimeout: 10\n---\nI am {{fail}} «fail {{fail}} 1» «say <result>{{fail}} is over</result>»',
        },
      }),
    );
    const run = await play(rig);
    expect([run.status, results(run)]).toStrictEqual(['completed', fails.map((fail) => `${fail} is over`)]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual(fails.map(() => ['timeout', 'none']));
    for (const fail of fails) expect(conversation(rig, `I am ${fail} `)[0]).toBe(`> I am ${fail}`);
  });

  test('ends when a turn has used up the budget, and goes on from there with more', async (context) => {
    const rig = await setUp(context, pinned, {
      options: { budgetMicros: 20_000 },
      states: {
        'START.md': 'I am START «usage 1000 100» «say <goto>DEAR</goto>»',
        'DEAR.md':
          'I am DEAR «usage 9000 100» «tool Write {"file_path":"dear.txt","content":"x"}» «usage 1000 100» «say never heard»',
      },
      script: ({ prompt, step }) =>
        prompt.startsWith('You were interrupted') && step === 0
          ? { blocks: [{ type: 'text', text: '<result>over</result>' }], usage: { input: 2000, output: 200 } }
          : undefined,
    });
    const stopped = await play(rig);
    expect([stopped.status, stopped.stop]).toStrictEqual(['budget_exceeded', { kind: 'budget' }]);
    expect(rig.all('turn_ended').map(({ failure }) => failure)).toStrictEqual([null, 'budget']);
    expect(stopped.ledger.spentMicros).toBe(charged(rig));
    const run = await playOn(rig, { budgetMicros: 1_000_000 });
    expect([run.status, run.agents[0]?.phase]).toStrictEqual(['completed', { kind: 'ended', result: 'over' }]);
    expect(conversation(rig, 'You were interrupted').slice(0, 4)).toStrictEqual([
      ...['> I am START', '< <goto>DEAR</goto>', '> I am DEAR', '< [Write]'],
    ]);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0 });
  });
});
