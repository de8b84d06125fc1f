import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Activity, Doing } from '../../../src/core/activity.ts';
import type { Event } from '../../../src/core/event.ts';
import { DEFAULT_OPTIONS } from '../../../src/core/options.ts';
import { widthOf } from '../../../src/events/text-width.ts';
import { formatWindowTitle, renderLiveView } from '../../../src/terminal/live/render.ts';
import { applyActivities, applyEvents, EMPTY_VIEW, type LiveView } from '../../../src/terminal/live/view.ts';

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
const born = (agent: string, state: string, at = NOON): Event => {
  const parent = agent === 'main' ? null : 'main';
  return { kind: 'agent_started', at, agent, state, parent, cwd: '/w', input: null, variables: {} };
};
const turn = (agent: string, state: string, at = NOON): Event => {
  return { kind: 'turn_started', at, agent, state, turn: 1, prompt: 'state', session: null };
};
const paid = (agent: string, state: string, costMicros: number): Event => {
  const rest = { turn: 1, session: null, estimated: false, durationMs: 1, failure: null, denials: [] };
  return { kind: 'turn_ended', at: NOON, agent, state, costMicros, spentMicros: costMicros, ...rest };
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
const draw = (view: LiveView, columns = 80, rows = 24, now = NOON + 62 * SECOND): string =>
  renderLiveView(view, now, { columns, rows, color: false }).join('\n');

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
· main_worker3  WORK.md    waiting
1:02  $1.25 of $10.00  4 live (1 waiting)`);
  });

  test('fits into 40 columns, with the least important parts shortened', () => {
    expect(draw(view, 40, 20)).toBe(`\
── coding-1 ───────────────────────────
⠹ main     REVIEW Edit agen… 1:02 $1.25
⠹ …worker1 WORK   I will lo… 0:42
⠹ …worker2 CHECK  ok 12 of…  0:02
· …worker3 WORK   waiting
1:02  $1.25 of $10.00
  4 live (1 waiting)`);
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
      '1:02  $1.25 of $10.00  1 live, 1 ended, 1 failed, 1 paused',
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
      '~ main  PLAN.md  usage limit until 12:12',
      '0:02  $0.00 of $10.00  1 live',
      'usage limit: waiting until 12:12, 12:03 left',
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
      '0:05  $0.00 of $10.00  2 live (2 waiting)',
      'waiting to try again: 0:04 left',
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
  const view = viewOf(...names.map((name, index) => (index < 40 ? born(name, 'W.md') : turn(name, 'W.md'))));

  test('are folded, busy ones first', () => {
    const lines = draw(view).split('\n');
    expect(lines).toHaveLength(18);
    expect(lines[1]).toMatch(/^⠹ main_w41 {2}W\.md {2}thinking/);
    expect(lines.slice(-2)).toStrictEqual([
      '… 85 more: 45 running, 40 waiting',
      '1:02  $0.00 of $10.00  100 live (40 waiting)',
    ]);
  });
});

test('the view is empty before a run and after it', () => {
  expect(draw(EMPTY_VIEW)).toBe('');
  const status = { status: 'completed', spentMicros: 0, estimatedMicros: 0 } as const;
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
      (agents, { columns, rows }, color, interrupts) => {
        const events = agents.flatMap(({ id, state, cost, phase }) => [
          born(id, state),
          paid(id, state, cost),
          [turn(id, state), asleep(id, 'retry', NOON, state), asleep(id, 'usage_limit', NOON, id), born(id, state)][
            phase
          ] ?? turn(id, state),
        ]);
        const view = doing(viewOf(...events), Object.fromEntries(agents.map(({ id, act: each }) => [id, each])));
        const lines = renderLiveView({ ...view, interrupts }, NOON + 99 * 3600 * SECOND, { columns, rows, color });
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
