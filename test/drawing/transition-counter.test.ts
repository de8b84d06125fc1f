import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/core/run/event.ts';
import { TransitionCounter } from '../../src/drawing/transition-counter.ts';
import { TAG_NAMES } from '../../src/language/transitions/index.ts';
import { action, applyActions, CostMeter, WORKFLOW } from '../core/random-run.ts';
import { RunDriver, startRun } from '../core/run-driver.ts';
import { SAMPLE_EVENTS } from '../render/sample-events.ts';

const counterOf = (events: readonly Event[]): TransitionCounter => {
  const counter = new TransitionCounter();
  for (const event of events) counter.add(event);
  return counter;
};

const transitionsOf = (events: readonly Event[]): readonly string[] =>
  counterOf(events).transitionCounts.map(({ from, kind, to, times }) => `${from} ${kind} ${to} ${times}`);

describe('the transitions of a run', () => {
  test('include the return to the caller after any number of transitions of the callee', () => {
    const { events } = new RunDriver({ files: ['START.md', 'F.md', 'F2.md', 'F3.md', 'B.md'] }).answer(
      '<function return="B">F</function>',
      '<goto>F2</goto>',
      '<call return="F3">F2</call>',
      '<reset>F</reset>',
      '<result>inner</result>',
      '<result>outer</result>',
    );
    expect(transitionsOf(events)).toStrictEqual([
      'null begin START.md 1',
      'START.md function F.md 1',
      'F.md goto F2.md 1',
      'F2.md call F2.md 1',
      'F2.md reset F.md 1',
      'F.md back F3.md 1',
      'F2.md return F3.md 1',
      'F3.md back B.md 1',
      'START.md return B.md 1',
    ]);
  });

  test('do not include callers whose stack was cleared', () => {
    const { events } = new RunDriver({ files: ['START.md', 'F.md', 'G.md'] }).answer(
      '<call return="START">F</call>',
      '<reset stack="clear">G</reset>',
      '<call return="G">F</call>',
      '<result>x</result>',
      '<result>y</result>',
    );
    expect(transitionsOf(events).slice(-3)).toStrictEqual([
      'F.md back G.md 1',
      'G.md return G.md 1',
      'G.md result null 1',
    ]);
  });

  test('lead from the parent to each of its workers', () => {
    const driver = new RunDriver({ files: ['START.md', 'W.md', 'N.md'] });
    driver
      .answer('<fork>W</fork><fork>W</fork><fork>N</fork><goto>N</goto>')
      .runTurn('main_w1', '<fork next="N">W</fork>');
    expect(transitionsOf(driver.events)).toStrictEqual([
      'null begin START.md 1',
      'START.md next N.md 1',
      'START.md fork W.md 2',
      'START.md fork N.md 1',
      'W.md next N.md 1',
      'W.md fork W.md 1',
    ]);
  });
});

test.each(TAG_NAMES)('a <%s> is counted', (tag) => {
  const { state, to } = SAMPLE_EVENTS.transition;
  const counted = counterOf([{ ...SAMPLE_EVENTS.transition, tag }]).transitionCounts;
  expect(counted).toContainEqual(expect.objectContaining({ from: state, times: 1 }));
  expect(counted).toContainEqual(expect.objectContaining({ to, times: 1 }));
});

test('every transition, worker and return of any run is counted exactly once', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
      const { events } = applyActions(startRun(WORKFLOW), actions, new CostMeter());
      const { transitionCounts: ways } = counterOf(events);
      const times = (...kinds: string[]): number =>
        ways.filter(({ kind }) => kinds.includes(kind)).reduce((sum, way) => sum + way.times, 0);
      const transitions = events.filter(({ kind }) => kind === 'transition').length;
      const workers = events.filter((event) => event.kind === 'agent_started' && event.parent !== null).length;
      const timeouts = events.filter((event) => event.kind === 'joined' && event.timedOut).length;
      expect(
        times('goto', 'reset', 'compact', 'call', 'function', 'next', 'join', 'ask', 'result', 'back', 'guard'),
      ).toBe(transitions + timeouts);
      expect(times('fork')).toBe(workers);
      expect(times('return')).toBe(times('back'));
      expect(ways.every(({ from, kind }) => from !== null || kind === 'begin')).toBe(true);
      const states = WORKFLOW.files.flatMap((file) => [file, `lib/${file}`]);
      expect(states).toStrictEqual(
        expect.arrayContaining(ways.flatMap(({ from, to }) => [from, to].filter((each) => each !== null))),
      );
    }),
  );
});
