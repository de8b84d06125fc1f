import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/core/run/event.ts';
import { NO_TOKENS } from '../../src/core/run/tokens.ts';
import { collectAgentPaths } from '../../src/render/run-history.ts';
import { BY_ANSWER } from './sample-events.ts';

const at = 0;
const nothing = { parent: null, cwd: '/', input: null, variables: {} };

const born = (agent: string, state: string): Event => ({ kind: 'agent_started', at, agent, state, ...nothing });
const turn = (agent: string, state: string, number = 1): Event => {
  return { kind: 'turn_started', evaluator: null, at, agent, state, turn: number, prompt: 'state', session: null };
};
const moved = (agent: string, state: string, to: string | null): Event => {
  const how = {
    tag: 'goto',
    tags: [],
    ...BY_ANSWER,
    implicit: false,
    session: null,
    depth: 0,
    costMicros: 0,
    input: null,
  } as const;
  return { kind: 'transition', at, agent, state, to, tokens: NO_TOKENS, ...how };
};

const pathsIn = (...events: readonly Event[]) => Object.fromEntries(collectAgentPaths(events));

describe('the path of an agent', () => {
  test('has each visited state once, for any number of turns', () => {
    const events = [
      turn('main', 'A.md'),
      turn('main', 'A.md', 2),
      moved('main', 'A.md', 'A.md'),
      turn('main', 'A.md', 3),
    ];
    expect(pathsIn(born('main', 'A.md'), ...events, moved('main', 'A.md', null))).toStrictEqual({
      main: ['A.md', 'A.md'],
    });
  });

  test('is separate for each agent', () => {
    const events = [born('main', 'A.md'), turn('main', 'A.md'), moved('main', 'A.md', 'B.md'), born('main_w1', 'W.md')];
    expect(pathsIn(...events, turn('main_w1', 'W.md'), turn('main', 'B.md'))).toStrictEqual({
      main: ['A.md', 'B.md'],
      main_w1: ['W.md'],
    });
  });

  test('does not include a state that may not be entered again, until it is entered', () => {
    const refused: Event = { kind: 'visit_limit', at, agent: 'main', state: 'A.md', maxVisits: 1 };
    const events = [born('main', 'A.md'), turn('main', 'A.md'), moved('main', 'A.md', 'A.md'), refused];
    expect(pathsIn(...events)).toStrictEqual({ main: ['A.md'] });
    const resumed: Event = { kind: 'agent_resumed', at, agent: 'main', state: 'A.md' };
    expect(pathsIn(...events, resumed, turn('main', 'A.md'))).toStrictEqual({ main: ['A.md', 'A.md'] });
  });

  test('ends before a state that was not entered', () => {
    const stop: Event = { kind: 'run_stopping', at, stop: { kind: 'iterations' } };
    const events = [born('main', 'A.md'), turn('main', 'A.md'), moved('main', 'A.md', 'B.md'), stop];
    expect(pathsIn(...events)).toStrictEqual({ main: ['A.md'] });
  });

  test('includes a state whose file cannot be read, once', () => {
    const paused: Event = { kind: 'agent_paused', at, agent: 'main', state: 'B.md', why: 'unreadable', message: '' };
    const events = [born('main', 'A.md'), turn('main', 'A.md'), moved('main', 'A.md', 'B.md'), paused];
    expect(pathsIn(...events, turn('main', 'B.md'))).toStrictEqual({ main: ['A.md', 'B.md'] });
  });
});
