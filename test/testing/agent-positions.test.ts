import { expect, test } from 'vitest';
import type { Event } from '../../src/core/run/event.ts';
import { describeAgentPositions } from '../../src/testing/evaluate.ts';

/** An event with what matters here. */
const eventOf = (kind: Event['kind'], agent: string, state: string, more: object = {}): Event =>
  ({ at: 0, kind, agent, state, evaluator: null, ...more }) as Event;

const STOPPING = { kind: 'run_stopping', at: 0, stop: { kind: 'stopped' } } as const;

test('lists the position and activity of every agent that had not ended', () => {
  const events = [
    eventOf('agent_started', 'main', 'START.sh'),
    eventOf('turn_started', 'main', 'START.sh', { turn: 1 }),
    eventOf('turn_ended', 'main', 'START.sh', { failure: null }),
    eventOf('transition', 'main', 'START.sh', { to: 'SLOW.sh' }),
    ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map((agent) => eventOf('agent_started', agent, 'W.md')),
    ...['a', 'b', 'c', 'd', 'e', 'f'].map((agent) => eventOf('turn_started', agent, 'W.md', { turn: 7 })),
    eventOf('warning', 'main', 'SLOW.sh', { message: 'm' }),
    eventOf('turn_started', 'main', 'SLOW.sh', { turn: 2 }),
    eventOf('agent_failed', 'b', 'W.md'),
    eventOf('sleeping', 'c', 'W.md', { why: 'retry' }),
    eventOf('sleeping', 'd', 'W.md', { why: 'usage_limit' }),
    eventOf('agent_paused', 'e', 'W.md', { why: 'billing' }),
    eventOf('transition', 'f', 'W.md', { to: null }),
    eventOf('agent_ended', 'f', 'W.md'),
    eventOf('visit_limit', 'h', 'W.md'),
    STOPPING,
    eventOf('turn_ended', 'main', 'SLOW.sh', { failure: 'interrupted' }),
    eventOf('agent_paused', 'main', 'SLOW.sh', { why: 'interrupted' }),
  ];
  expect(describeAgentPositions(events)).toStrictEqual([
    'main in SLOW.sh, turn 2: its script was running',
    'a in W.md, turn 7: its answer was being replayed',
    'b in W.md: it had failed',
    'c in W.md: it waited to be tried again',
    'd in W.md: it waited for the end of a usage limit',
    'e in W.md: it was paused',
    'g in W.md: it waited for its turn',
    'h in W.md: it was kept out by max_visits',
  ]);
});

test('has the interrupted turn even if the run was already ending', () => {
  const events = [
    eventOf('agent_started', 'main', 'SLOW.sh'),
    eventOf('turn_started', 'main', 'SLOW.sh', { turn: 1 }),
    { kind: 'run_stopping', at: 0, stop: { kind: 'budget' } } as const,
    eventOf('turn_ended', 'main', 'SLOW.sh', { failure: 'interrupted' }),
    eventOf('agent_paused', 'main', 'SLOW.sh', { why: 'interrupted' }),
  ];
  expect(describeAgentPositions(events)).toStrictEqual(['main in SLOW.sh, turn 1: its script was running']);
});

test('lists only some of very many agents', () => {
  const events = Array.from({ length: 15 }, (_, at) => eventOf('agent_started', `a${at}`, 'W.md'));
  expect(describeAgentPositions(events).slice(-2)).toStrictEqual(['a9 in W.md: it waited for its turn', 'and 5 more']);
});

test('names the evaluator whose turn it was', () => {
  const events = [
    eventOf('agent_started', 'main', 'START.md'),
    eventOf('turn_started', 'main', 'START.md', { turn: 2, evaluator: 'GATE.sh' }),
    STOPPING,
  ];
  expect(describeAgentPositions(events)).toStrictEqual([
    'main in START.md, turn 2: evaluated by GATE.sh: its script was running',
  ]);
});
