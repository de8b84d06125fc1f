import { expect, type TestContext, test } from 'vitest';
import type { Agent } from '../../src/core/run/agent.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import type { FailureKind } from '../../src/language/failure.ts';
import type { Pinned } from '../claude-code/pinned.ts';
import type { FailureName } from '../messages-api/reply.ts';
import type { Logged } from '../messages-api/server.ts';
import {
  charged,
  conversation,
  type Rig,
  type RigSetup,
  resumeToEnd,
  runToEnd,
  setUp,
  textReply,
  withEachClaude,
} from './rig.ts';

/** Claude Code's own retries are not what is tested here. */
const AT_ONCE = { CLAUDE_CODE_MAX_RETRIES: '0' };

/** What befalls a worker. */
type InjectedFailure = FailureName | 'nothing';

interface WorkersSetup extends Partial<Omit<RigSetup, 'states' | 'script'>> {
  /** In how many turns each worker meets its failure before all goes well. */
  readonly turns?: number;
  readonly frontmatter?: string;
  readonly detail?: string;
}

/**
 * A run with a worker for each of these ways to fail. Whatever Claude Code tries in a turn that is to fail, fails: it asks
 * once more without a stream, or another model, and what it says then must not matter.
 */
async function setUpWorkers(
  context: TestContext,
  pinned: Pinned,
  fails: readonly InjectedFailure[],
  { turns = 1, frontmatter = '', detail, ...scene }: WorkersSetup = {},
): Promise<Rig> {
  const forks = fails.map((fail) => `<fork next="END" fail="${fail}">WORKER</fork>`).join('');
  const rig: Rig = await setUp(context, pinned, {
    env: AT_ONCE,
    ...scene,
    states: {
      'START.sh': `echo '${forks}'`,
      'END.sh': 'echo "<result>forked</result>"',
      'WORKER.md': `${frontmatter}I am with {{fail}}.`,
    },
    script({ messages }) {
      const said = JSON.stringify(messages);
      const worker = fails.findIndex((fail) => said.includes(`I am with ${fail}.`));
      const kind = fails[worker];
      if (kind === undefined) return undefined;
      const well = textReply(`<result>${kind} is over</result>`);
      if (kind === 'nothing') return well;
      const met = rig.eventsOf('turn_ended').filter(({ agent }) => agent === `main_worker${worker + 1}`).length;
      const fail = { kind, ...(detail !== undefined && { detail }) };
      return met < turns ? { ...well, fail } : well;
    },
  });
  return rig;
}

const over = (fails: readonly InjectedFailure[]): readonly string[] => fails.map((fail) => `${fail} is over`);

const workers = ({ agents }: Run): readonly Agent[] => agents.filter(({ id }) => id !== 'main');

const results = (run: Run): readonly unknown[] =>
  workers(run).map(({ phase }) => (phase.kind === 'ended' ? phase.result : phase));

/** What is found in the events of each worker, in order. */
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
  event.kind === 'turn_started' ? `${event.session?.kind} ${event.session?.id}` : undefined;

/**
 * What came to its end costs what the API charged for it. What broke off midway has a price, too, but it depends on how
 * much of it arrived whether Claude Code hears of that, and counts it.
 */
function expectRightCosts(rig: Rig, run: Run, fails: readonly InjectedFailure[]): void {
  for (const [index, { id }] of workers(run).entries()) {
    const own = ({ messages }: Logged): boolean => JSON.stringify(messages).includes(`I am with ${fails[index]}.`);
    const ended = rig.eventsOf('turn_ended').filter(({ agent }) => agent === id);
    const cost = (turns: typeof ended): number => turns.reduce((sum, { costMicros }) => sum + costMicros, 0);
    const whole = charged(rig, (request) => own(request) && request.reply.fail === undefined);
    const broken = charged(rig, (request) => own(request) && request.reply.fail !== undefined);
    expect(cost(ended.filter(({ failure }) => failure === null))).toBe(whole);
    expect(cost(ended.filter(({ failure }) => failure !== null))).toBeLessThanOrEqual(broken);
  }
}

withEachClaude('a run', (pinned) => {
  test('sleeps until a usage limit ends, without further requests', async (context) => {
    // Late enough that it lies ahead when the limit is reached: after one that has passed, a run waits for a minute.
    const reset = Math.floor(Date.now() / 1000) + 8;
    const rig = await setUpWorkers(context, pinned, ['limit', 'nothing'], {
      detail: String(reset),
      options: { parallel: 1 },
      env: { ...AT_ONCE, ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'made-up' },
    });
    const run = await runToEnd(rig);
    expect([run.status, results(run), run.hold]).toStrictEqual(['completed', over(['limit', 'nothing']), null]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual([['usage_limit', 'none'], ['none']]);
    const [slept, second] = rig.eventsOf('sleeping');
    const untilMs = slept?.untilMs ?? Number.POSITIVE_INFINITY;
    const [asked, ...later] = rig.eventsOf('turn_started').filter(({ state }) => state === 'WORKER.md');
    expect([slept?.why, second]).toStrictEqual(['usage_limit', undefined]);
    expect(untilMs).toBeGreaterThan(reset * 1000);
    expect(later.map(({ at }) => at >= untilMs)).toStrictEqual([true, true]);
    expect(later.map(({ session }) => session)).toContainEqual({ kind: 'resume', id: asked?.session?.id });
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('retries temporary failures in the same conversation', async (context) => {
    const fails = ['500', '529', 'overloaded', 'html', 'drop', 'dropmid', 'malformed', 'garbage', 'empty'] as const;
    const rig = await setUpWorkers(context, pinned, fails);
    const run = await runToEnd(rig);
    expect([run.status, results(run)]).toStrictEqual(['completed', over(fails)]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual(fails.map(() => ['transient', 'none']));
    for (const [first, second] of byWorker(rig, run, sessionIn)) expect(second).toBe(first?.replace('new', 'resume'));
    expect(new Set(rig.eventsOf('sleeping').map(({ why, count }) => `${why} ${count}`))).toStrictEqual(
      new Set(['retry 1']),
    );
    expectRightCosts(rig, run, fails);
  });

  test('pauses for problems that only the user can fix, and continues after a resume', async (context) => {
    const fails = ['401', '403', 'billing', '404', '400', 'toolong'] as const;
    const why = ['authentication', 'authentication', 'billing', 'model', 'invalid_request', 'prompt_too_long'];
    const rig = await setUpWorkers(context, pinned, fails);
    const paused = await runToEnd(rig);
    expect(paused.status).toBe('paused');
    expect(workers(paused).map(({ phase }) => phase.kind === 'paused' && phase.why)).toStrictEqual(why);
    const asked = rig.api.requests.length;
    const run = await resumeToEnd(rig);
    expect([run.status, results(run)]).toStrictEqual(['completed', over(fails)]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual(why.map((kind) => [kind, 'none']));
    for (const [first, second] of byWorker(rig, run, sessionIn)) expect(second).toBe(first?.replace('new', 'resume'));
    expect(rig.api.requests.length).toBeGreaterThan(asked);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test.for(['limit', '429'] as const)('pauses for a usage limit (%s) with --no-wait', async (fail, context) => {
    const rig = await setUpWorkers(context, pinned, [fail], { options: { wait: false } });
    const paused = await runToEnd(rig);
    expect([paused.status, paused.stop]).toMatchObject(['paused', { kind: 'usage_limit' }]);
    const run = await resumeToEnd(rig);
    expect([run.status, run.stop, results(run)]).toStrictEqual(['completed', null, over([fail])]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual([['usage_limit', 'none']]);
    expect(rig.eventsOf('sleeping')).toStrictEqual([]);
  });

  test('fails after permanent failures, and lets the others finish', async (context) => {
    const rig = await setUpWorkers(context, pinned, ['500', 'refusal', 'nothing'], {
      options: { retries: 1 },
      turns: 2,
    });
    const run = await runToEnd(rig);
    expect([run.status, run.agents.map(({ phase }) => phase)]).toStrictEqual([
      'failed',
      [
        { kind: 'ended', result: 'forked' },
        { kind: 'failed', message: expect.stringMatching(/^WORKER\.md: .*500.*\(tried 2 times\)$/) },
        { kind: 'failed', message: expect.stringMatching(/^WORKER\.md: Claude declined to answer/) },
        { kind: 'ended', result: 'nothing is over' },
      ],
    ]);
    expect(byWorker(rig, run, failureIn)).toStrictEqual([['transient', 'transient'], ['refusal'], ['none']]);
    expect(run.ledger.spentMicros).toBe(charged(rig));
  });

  test('ends a turn whose API does not respond, and retries it', async (context) => {
    const fails = ['hang', 'hangmid'] as const;
    const rig = await setUpWorkers(context, pinned, fails, { frontmatter: '---\ntimeout: 10\n---\n' });
    const run = await runToEnd(rig);
    expect([run.status, results(run)]).toStrictEqual(['completed', over(fails)]);
    for (const ends of byWorker(rig, run, failureIn)) {
      // A machine under load may be silent once more.
      expect(ends.slice(0, 1)).toStrictEqual(['timeout']);
      expect(ends.at(-1)).toBe('none');
      expect(new Set(ends)).toStrictEqual(new Set(['timeout', 'none']));
    }
    for (const [first, second] of byWorker(rig, run, sessionIn)) expect(second).toBe(first?.replace('new', 'resume'));
    expectRightCosts(rig, run, fails);
  });

  test('ends when a turn has used up the budget, and continues from there with a higher one', async (context) => {
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
    const stopped = await runToEnd(rig);
    expect([stopped.status, stopped.stop]).toStrictEqual(['budget_exceeded', { kind: 'budget' }]);
    expect(rig.eventsOf('turn_ended').map(({ failure }) => failure)).toStrictEqual([null, 'budget']);
    expect(stopped.ledger.spentMicros).toBe(charged(rig));
    const run = await resumeToEnd(rig, { budgetMicros: 1_000_000 });
    expect([run.status, run.agents[0]?.phase]).toStrictEqual(['completed', { kind: 'ended', result: 'over' }]);
    // What was in hand when the money ran out is told differently by each version.
    expect(conversation(rig, 'You were interrupted').slice(0, 3)).toStrictEqual([
      '> I am START',
      '< <goto>DEAR</goto>',
      '> I am DEAR',
    ]);
    expect(run.ledger).toMatchObject({ spentMicros: charged(rig), estimatedMicros: 0 });
  });
});
