import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { initialEvents } from '../../../../src/core/step.ts';
import { applyActivities, applyEvents, EMPTY_VIEW, type LiveView } from '../../../../src/render/terminal/live/view.ts';
import { computeWorkMs } from '../../../../src/render/work-time.ts';
import { action, applyActions, CostMeter, WORKFLOW } from '../../../core/random-run.ts';
import { RunDriver, startRun, usd } from '../../../core/run-driver.ts';
import { SAMPLE_EVENTS } from '../../sample-events.ts';

const { turn_started, ...others } = SAMPLE_EVENTS;
const OTHER_EVENTS = Object.values(others);

test('shows every agent as in the run, for any events', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const first = startRun(WORKFLOW);
      let view = applyEvents(EMPTY_VIEW, initialEvents(first));
      applyActions(first, actions, new CostMeter(), (_before, _signal, run, events) => {
        view = applyEvents(view, events);
        const agents = run.agents.map(({ id, state, phase, costMicros }) => ({
          id,
          state,
          phase: phase.kind,
          costMicros,
        }));
        const isOver = ({ phase }: { phase: string }) => phase === 'ended' || phase === 'cancelled';
        expect(shown(view)).toStrictEqual(agents.filter((agent) => !isOver(agent)));
        expect([...view.endedByState.values()].reduce((sum, count) => sum + count, 0)).toBe(
          agents.filter(({ phase }) => phase === 'ended').length,
        );
        expect(view).toMatchObject({
          workers: agents.length - 1,
          endedWorkers: agents.filter((agent) => agent.id !== 'main' && isOver(agent)).length,
          spentMicros: run.ledger.spentMicros,
          budgetMicros: run.options.budgetMicros,
          stop: run.stop,
        });
      });
    }),
    { numRuns: 500 },
  );
});

const shown = ({ agents }: LiveView) =>
  [...agents.values()].map(({ id, state, phase, costMicros }) => ({ id, state, phase, costMicros }));

describe('the activity of an agent', () => {
  const says = (at: number, text: string) => ({ at, agent: 'main', doing: { kind: 'says', text } }) as const;

  test('is the latest in its turn', () => {
    const driver = new RunDriver({ files: ['START.md'] });
    driver.begin('main');
    const view = applyEvents(EMPTY_VIEW, driver.events);
    expect(applyActivities(view, [says(5000, 'a'), says(5001, 'b')]).agents.get('main')).toMatchObject({
      phase: 'running',
      since: 1010,
      doing: { kind: 'says', text: 'b' },
    });
    const late = applyActivities(view, [says(1009, 'of the turn before'), { ...says(5000, 'x'), agent: 'nobody' }]);
    expect(late).toStrictEqual(view);
  });

  test('ends with its turn', () => {
    const driver = new RunDriver({ files: ['START.md'] });
    driver.begin('main');
    let view = applyActivities(applyEvents(EMPTY_VIEW, driver.events), [says(5000, 'a')]);
    const told = driver.events.length;
    driver.reply('main', '<goto>START</goto>');
    view = applyEvents(view, driver.events.slice(told));
    expect(view.agents.get('main')).toMatchObject({ phase: 'ready', since: null, doing: null });
    expect(applyActivities(view, [says(6000, 'too late')])).toStrictEqual(view);
  });
});

test.each(OTHER_EVENTS)('$kind keeps the clock and activity of an agent that continues to run', (event) => {
  const running = applyActivities(applyEvents(EMPTY_VIEW, [turn_started]), [
    { at: turn_started.at, agent: 'main', doing: { kind: 'says', text: 'a' } },
  ]);
  const [before, after] = [running, applyEvents(running, [event])].map(({ agents }) => agents.get('main'));
  const isCostOnly = event.kind === 'cost_corrected';
  const expected = isCostOnly ? { ...before, costMicros: after?.costMicros } : before;
  expect(after?.phase === 'running' ? after : before).toStrictEqual(expected);
});

test('the time counts across resumes, but not between them', () => {
  const driver = new RunDriver({ files: ['START.md'] }, { budgetMicros: 1 });
  driver.answer({ text: '<result>r</result>', cost: usd(0.5) });
  const view = applyEvents(EMPTY_VIEW, driver.events);
  expect(computeWorkMs(view.worked, 9_000_000)).toBe(20);
  const again = applyEvents(view, [{ kind: 'run_resumed', at: 10_000_000, options: driver.run.options }]);
  expect(computeWorkMs(again.worked, 10_000_500)).toBe(520);
  const crashed = applyEvents(again, [{ kind: 'woken', at: 10_001_000, agent: 'main', state: 'START.md' }]);
  const third = applyEvents(crashed, [{ kind: 'run_resumed', at: 20_000_000, options: driver.run.options }]);
  expect(computeWorkMs(third.worked, 20_000_001)).toBe(1021);
});
