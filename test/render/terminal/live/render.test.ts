import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_OPTIONS } from '../../../../src/core/options/options.ts';
import type { Activity, Doing } from '../../../../src/core/run/activity.ts';
import type { Event } from '../../../../src/core/run/event.ts';
import { NO_TOKENS } from '../../../../src/core/run/tokens.ts';
import { INITIAL_CONTROLS } from '../../../../src/render/terminal/live/controls.ts';
import { formatWindowTitle, layoutLiveView, type ViewChoice } from '../../../../src/render/terminal/live/render.ts';
import {
  applyActivities,
  applyEvents,
  applyQueued,
  EMPTY_VIEW,
  type LiveView,
} from '../../../../src/render/terminal/live/view.ts';
import { widthOf } from '../../../../src/render/text-width.ts';

const NOON = new Date(2026, 0, 15, 12, 0, 0).getTime();
const SECOND = 1000;

const begin: Event = {
  kind: 'run_started',
  name: 'coding',
  at: NOON,
  run: 'coding-1',
  workflow: { name: 'coding', path: '/w/coding', platform: 'unix' },
  options: DEFAULT_OPTIONS,
};
const born = (agent: string, state: string, at = NOON): Extract<Event, { kind: 'agent_started' }> => {
  const parent = agent === 'main' ? null : 'main';
  return { kind: 'agent_started', at, agent, state, parent, cwd: '/w', input: null, variables: {} };
};
const turn = (agent: string, state: string, at = NOON): Event => {
  return { kind: 'turn_started', evaluator: null, at, agent, state, turn: 1, prompt: 'state', session: null };
};
const paid = (agent: string, state: string, costMicros: number): Event => {
  const rest = {
    turn: 1,
    session: null,
    estimated: false,
    canned: false,
    models: [],
    durationMs: 1,
    failure: null,
    denials: [],
  };
  return { kind: 'turn_ended', evaluator: null, at: NOON, agent, state, costMicros, spentMicros: costMicros, ...rest };
};
const asleep = (agent: string, why: 'retry' | 'usage_limit', untilMs: number, message: string): Event => {
  return { kind: 'sleeping', at: NOON, agent, state: 'PLAN.md', why, untilMs, failure: 'transient', message, count: 1 };
};
const viewOf = (...events: Event[]): LiveView => applyEvents(EMPTY_VIEW, [begin, ...events]);
const doing = (view: LiveView, acts: Readonly<Record<string, Doing>>): LiveView =>
  applyActivities(
    view,
    Object.entries(acts).map(([agent, each]): Activity => ({ at: NOON + 61 * SECOND, agent, doing: each })),
  );
const draw = (view: LiveView, columns = 80, rows = 24, now = NOON + 62 * SECOND, choice?: ViewChoice): string =>
  layoutLiveView(view, now, { columns, rows, color: false }, choice).lines.join('\n');

test('a turn that waits for a slot of its node is queued, and runs once it has one', () => {
  const started = viewOf(born('main', 'PLAN.md'), turn('main', 'PLAN.md'), born('w1', 'ONE.md'), turn('w1', 'ONE.md'));
  const queued = applyQueued(started, new Set(['w1']));
  expect(draw(queued)).toMatch(/· w1 +ONE\.md +queued/);
  expect(draw(queued)).toContain('0 of 1 done, 1 waiting');
  const running = applyQueued(queued, new Set());
  expect(draw(running)).toBe(draw(started));
  expect(draw(running)).toContain('0 of 1 done, 1 running');
});

test('agents with long variables that begin alike are told apart', () => {
  const workers = [1, 2].map((number) => {
    const variables = { item: `a very long name of an item, number ${number}` };
    return { ...born(`main_worker${number}`, 'A-RATHER-LONG-NAME-OF-A-STATE.md'), variables };
  });
  const labelsAt = (columns: number) => {
    const lines = draw(viewOf(...workers), columns).split('\n');
    return lines.flatMap((line) => /worker\d/.exec(line) ?? []);
  };
  for (const columns of [80, 40]) expect(labelsAt(columns)).toStrictEqual(['worker1', 'worker2']);
});

describe('a run with a few agents', () => {
  const view = doing(
    viewOf(
      born('main', 'PLAN.md'),
      paid('main', 'PLAN.md', 1_250_000),
      turn('main', 'REVIEW.md'),
      born('main_worker1', 'WORK.md'),
      turn('main_worker1', 'WORK.md', NOON + 20 * SECOND),
      born('main_worker2', 'CHECK.sh'),
      turn('main_worker2', 'CHECK.sh', NOON + 60 * SECOND),
      born('main_worker3', 'WORK.md'),
    ),
    {
      main: { kind: 'uses', tool: 'Edit', detail: 'src/terminal/live/agent-lines.ts' },
      main_worker1: { kind: 'says', text: 'I will look at the tests first, then at 日本語 and the rest.\nNot shown.' },
      main_worker2: { kind: 'prints', text: '\u001b[32mok\u001b[0m 12 of 40' },
    },
  );

  test('shows the state, activity, time and cost of each agent', () => {
    expect(draw(view)).toBe(`\
── coding-1 ───────────────────────────────────────────────────────────────────
⠹ main          REVIEW.md  Edit src/terminal/live/agent-lines.ts    1:02  $1.25
⠹ main_worker1  WORK.md    I will look at the tests first, then a…  0:42
⠹ main_worker2  CHECK.sh   ok 12 of 40                              0:02
· main_worker3  WORK.md    waiting for a share of the budget
1:02  $1.25 of $10.00  0 of 3 done, 2 running, 1 waiting`);
  });

  test('fits into 40 columns, with the least important parts shortened', () => {
    expect(draw(view, 40, 20)).toBe(`\
── coding-1 ───────────────────────────
⠹ main     REVIEW Edit agen… 1:02 $1.25
⠹ …worker1 WORK   I will lo… 0:42
⠹ …worker2 CHECK  ok 12 of…  0:02
· …worker3 WORK   waiting f…
1:02  $1.25 of $10.00  0 of 3 done,
  2 running, 1 waiting`);
  });

  test('has a title with the state of a single agent, or the number of agents', () => {
    expect(formatWindowTitle(view, NOON)).toBe('raymond: coding — 4 agents $1.25');
    expect(formatWindowTitle(viewOf(turn('main', 'REVIEW.md')), NOON)).toBe('raymond: coding — REVIEW.md $0.00');
    expect(formatWindowTitle(EMPTY_VIEW, NOON)).toBe('');
  });

  test('counts ended and failed agents', () => {
    const place = { at: NOON, state: 'WORK.md', message: 'm' };
    const after = [
      { kind: 'agent_failed', agent: 'main_worker1', ...place },
      { kind: 'agent_paused', agent: 'main_worker2', why: 'billing', ...place },
      { kind: 'agent_ended', agent: 'main_worker3', at: NOON, state: 'WORK.md', result: 'r' },
    ] satisfies Event[];
    expect(draw(applyEvents(view, after)).split('\n').slice(1)).toStrictEqual([
      '⠹ main  REVIEW.md  Edit src/terminal/live/agent-lines.ts            1:02  $1.25',
      '1:02  $1.25 of $10.00  1 of 3 done, 1 failed, 1 paused',
    ]);
  });
});

describe('waiting', () => {
  test('for a usage limit has a countdown', () => {
    const until = NOON + 12 * 60 * SECOND + 5 * SECOND;
    const view = viewOf(born('main', 'PLAN.md'), asleep('main', 'usage_limit', until, 'limit reached'));
    expect(
      draw(view, 80, 24, NOON + 2 * SECOND)
        .split('\n')
        .slice(1),
    ).toStrictEqual([
      '~ main  PLAN.md  until 12:12: limit reached',
      '0:02  $0.00 of $10.00  1 waiting',
      'waiting until 12:12, 12:03 left: limit reached',
    ]);
    expect(formatWindowTitle(view, NOON)).toBe('raymond: coding — waiting until 12:12 $0.00');
  });

  test('for a retry has a countdown, too', () => {
    const view = viewOf(
      ...['main', 'main_w1'].map((agent) => asleep(agent, 'retry', NOON + 9 * SECOND, 'Overloaded.\nmore')),
    );
    expect(
      draw(view, 80, 24, NOON + 5 * SECOND)
        .split('\n')
        .slice(1),
    ).toStrictEqual([
      '~ main     PLAN.md  again in 0:04: Overloaded.',
      '~ main_w1  PLAN.md  again in 0:04: Overloaded.',
      '0:05  $0.00 of $10.00  2 waiting',
      'waiting: 2 to try again in 0:04',
    ]);
  });
});

describe('a stop', () => {
  const view = viewOf(turn('main', 'A.sh'), turn('main_w1', 'A.sh'), born('main_w2', 'A.sh'));
  const last = (each: LiveView): string => draw(each).split('\n').at(-1) ?? '';

  test('shows the turns that are waited for, and the effect of another Ctrl-C', () => {
    const stopped = applyEvents(view, [{ kind: 'run_stopping', at: NOON, stop: { kind: 'interrupted' } }]);
    const first = { ...stopped, interrupts: 1 };
    expect(last({ ...view, interrupts: 1 })).toBe(last(first));
    expect(last(first)).toBe('interrupted: waiting for 2 turns to end; Ctrl-C again ends them now');
    expect(last({ ...first, interrupts: 2 })).toBe('ending 2 turns');
    expect(draw(first)).not.toContain('main_w2');
    expect(formatWindowTitle(first, NOON)).toBe('raymond: coding — stopping $0.00');
  });

  test('shows its reason', () => {
    const stopped = applyEvents(view, [{ kind: 'run_stopping', at: NOON, stop: { kind: 'budget' } }]);
    expect(last(stopped)).toBe('the budget is used up: waiting for 2 turns to end; Ctrl-C ends them now');
  });
});

describe('a hundred agents', () => {
  const names = Array.from({ length: 100 }, (_, index) => `main_w${index + 1}`);
  const ended = (agent: string): Event => ({ kind: 'agent_ended', at: NOON, agent, state: 'END.md', result: 'r' });
  const view = viewOf(
    ...names.map((name) => born(name, 'W.md')),
    ...names.slice(0, 20).map(ended),
    ...names.slice(60).map((name) => turn(name, 'W.md')),
    ...names.slice(60, 62).map((name) => turn(name, 'CHECK.sh')),
  );
  const chosen = (choice: Partial<ViewChoice>, each = view): readonly string[] =>
    draw(each, 80, 24, NOON, { ...INITIAL_CONTROLS, remark: '', ...choice }).split('\n');

  test('are counted by state, and as many as fit are shown, busy ones first', () => {
    const lines = chosen({});
    expect(lines).toHaveLength(18);
    expect(lines.slice(1, 5)).toStrictEqual([
      '  W.md      38 running, 40 waiting',
      '  CHECK.sh  2 running',
      '  END.md    20 done',
      '⠋ main_w61  CHECK.sh  running                                              0:00',
    ]);
    expect(lines.slice(-3)).toStrictEqual([
      '↓ 69 more',
      '0:00  $0.00 of $10.00  20 of 100 done, 40 running, 40 waiting',
      'waiting: 40 for a free place',
    ]);
  });

  test('can be scrolled, up to the last of them', () => {
    const { range } = layoutLiveView(view, NOON, { columns: 80, rows: 24, color: false });
    expect(chosen({ offset: 5 })).toContain('↑ 5 more   ↓ 64 more');
    const last = chosen({ offset: range.lastOffset });
    expect(last).toContain('↑ 69 more');
    expect(last.at(-4)).toMatch(/^· main_w60 /);
    expect(chosen({ offset: 1_000 })).toStrictEqual(last);
  });

  test('can be folded into a line for each state', () => {
    expect(chosen({ isFolded: true }).slice(1, -2)).toStrictEqual([
      '  W.md      38 running, 40 waiting',
      '  CHECK.sh  2 running',
      '  END.md    20 done',
    ]);
  });

  test('fit into 40 columns and 20 rows, too', () => {
    const small = layoutLiveView(view, NOON, { columns: 40, rows: 20, color: false }).lines;
    expect(small.slice(1, 4)).toStrictEqual([
      '  W.md      38 running, 40 waiting',
      '  CHECK.sh  2 running',
      '  END.md    20 done',
    ]);
    expect(small).toHaveLength(15);
  });

  test.each([
    ['a free place', { parallel: 38 }, '40 for a free place'],
    ['a share of the budget', { parallel: null }, '40 for a share of the budget'],
    ['nothing in particular, for a moment', { parallel: null, budgetMicros: null }, null],
  ])('say that they wait for %s', (_, options, words) => {
    const limited = { ...view, ...options };
    const line = chosen({}, limited).find((each) => each.startsWith('waiting: '));
    expect(line).toBe(words === null ? undefined : `waiting: ${words}`);
  });

  test('wait for Claude while one of them tries its credentials again', () => {
    const held = applyEvents(view, [
      { ...asleep('main_w61', 'retry', NOON + 9_000, 'denied'), failure: 'authentication' } as Event,
    ]);
    expect(chosen({}, held)).toContain('waiting: 40 for Claude to be available, 1 to try again in 0:09');
  });

  test('say how to see more, and what is held back', () => {
    expect(chosen({ remark: '? for keys' })[0]).toMatch(/^── coding-1 ─+ \? for keys ──$/);
    expect(chosen({ showsHelp: true }).at(-1)).toContain('? hides this');
  });
});

test('the view is empty before a run and after it', () => {
  expect(draw(EMPTY_VIEW)).toBe('');
  const status = {
    status: 'completed',
    spentMicros: 0,
    estimatedMicros: 0,
    cannedMicros: 0,
    tokens: NO_TOKENS,
  } as const;
  expect(draw(viewOf(born('main', 'A.md'), { kind: 'run_ended', at: NOON, ...status }))).toBe('');
});

test('the view is never wider or higher than the screen, for any agent output', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '日', '👩‍👩‍👧', '\u001b[2J', '\n', '\t', ' ', '/', 'e\u0301'),
    maxLength: 60,
  });
  const act = fc.oneof(
    text.map((each) => ({ kind: 'says', text: each }) as const),
    fc.tuple(text, text).map(([tool, detail]) => ({ kind: 'uses', tool, detail }) as const),
  );
  const agent = fc.record({ id: text, state: text, act, cost: fc.nat(99_000_000), phase: fc.nat(4) });
  const size = fc.record({ columns: fc.integer({ min: 1, max: 120 }), rows: fc.integer({ min: 1, max: 40 }) });
  fc.assert(
    fc.property(
      fc.array(agent, { maxLength: 30 }),
      size,
      fc.boolean(),
      fc.nat(3),
      fc.record({ offset: fc.nat(40), isFolded: fc.boolean(), showsHelp: fc.boolean(), isFrozen: fc.boolean() }),
      (agents, { columns, rows }, color, interrupts, controls) => {
        const choice = { ...controls, remark: 'frozen, 12 lines to come: space continues' };
        const events = agents.flatMap(({ id, state, cost, phase }) => [
          born(id, state),
          paid(id, state, cost),
          [turn(id, state), asleep(id, 'retry', NOON, state), asleep(id, 'usage_limit', NOON, id), born(id, state)][
            phase
          ] ?? turn(id, state),
        ]);
        const view = doing(viewOf(...events), Object.fromEntries(agents.map(({ id, act: each }) => [id, each])));
        const size = { columns, rows, color };
        const { lines } = layoutLiveView({ ...view, interrupts }, NOON + 99 * 3600 * SECOND, size, choice);
        expect(lines.length).toBeLessThanOrEqual(rows);
        for (const line of lines) {
          expect(widthOf(line)).toBeLessThanOrEqual(columns);
          expect(line.replaceAll(/\p{Cc}\[\d+m/gu, '')).not.toMatch(/\p{Cc}/u);
        }
      },
    ),
    { numRuns: 300 },
  );
});

describe('an API that fails', () => {
  const retrying = { kind: 'retries', attempt: 3, limit: 10, reason: '401 invalid key or login' } as const;
  const untilMs = NOON + 70 * SECOND;

  test('is shown at the agent, with the time that is left', () => {
    const view = doing(viewOf(born('main', 'A.md'), turn('main', 'A.md')), { main: { ...retrying, untilMs } });
    expect(draw(view)).toContain('retrying in 8 s (3 of 10): 401 invalid key or login');
    expect(draw(view, 80, 24, NOON + 71 * SECOND)).toContain('retrying (3 of 10): 401 invalid key or login');
  });

  test('is shown once below if it fails for several agents', () => {
    const agents = ['main', 'w1', 'w2'].flatMap((agent) => [born(agent, 'A.md'), turn(agent, 'A.md')]);
    const all = { ...retrying, untilMs: null };
    const view = doing(viewOf(...agents), { main: all, w1: all, w2: { ...all, reason: 'no connection' } });
    expect(draw(view)).toContain('3 agents are retrying: 401 invalid key or login, no connection');
  });
});

describe('what is used of a subscription', () => {
  const window = { status: 'allowed', reportedAt: NOON } as const;
  const quota = {
    account: 'a',
    windows: {
      five_hour: { ...window, percent: 83.9, resetsAtMs: NOON + 3_600_000 },
      seven_day: { ...window, percent: 31, resetsAtMs: NOON + 90_000_000 },
      seven_day_opus: { ...window, percent: null, resetsAtMs: NOON + 90_000_000 },
    },
  };
  const heard = (parallel: number | null): Event => ({ kind: 'quota', at: NOON, quota, parallel });
  const lastLine = (view: LiveView, columns: number): readonly string[] =>
    draw(view, columns, 20).split('\n').slice(-2);

  test('is in the footer, with the number of turns that --slow-at leaves', () => {
    const view = viewOf(born('main', 'PLAN.md'), turn('main', 'PLAN.md'), heard(4));
    expect(lastLine(view, 80).at(-1)).toBe('1:02  $0.00 of $10.00  quota 5h 83 % 7d 31 %, 4 at once  1 running');
    expect(lastLine(viewOf(born('main', 'PLAN.md'), turn('main', 'PLAN.md'), heard(null)), 80).at(-1)).toBe(
      '1:02  $0.00 of $10.00  quota 5h 83 % 7d 31 %  1 running',
    );
  });

  test('fits into 40 columns', () => {
    const view = viewOf(born('main', 'PLAN.md'), turn('main', 'PLAN.md'), heard(4));
    expect(lastLine(view, 40)).toStrictEqual(['  quota 5h 83 % 7d 31 %, 4 at once', '  1 running']);
  });

  test('decides which agents wait for a free place', () => {
    const agents = ['main', 'main_a', 'main_b'].flatMap((id) => [born(id, 'PLAN.md')]);
    const view = viewOf(...agents, turn('main', 'PLAN.md'), heard(1));
    expect(draw(view)).toContain('waiting: 2 for a free place');
  });
});
