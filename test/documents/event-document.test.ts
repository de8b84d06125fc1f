import { describe, expect, test } from 'vitest';
import { OPTIONS } from '../../src/core/options/options.ts';
import type { Event } from '../../src/core/run/event.ts';
import { createEventDocument } from '../../src/documents/event-document.ts';
import { SAMPLE_EVENTS } from '../render/sample-events.ts';

const AT = '2026-11-16T22:15:02.000Z';
const TOKENS = { input: 1_200, output: 340, cache_read: 56_000, cache_creation: 7_800 };
const document = (event: Event): unknown => JSON.parse(JSON.stringify(createEventDocument(event)));

describe('a line of --events', () => {
  test('has the names, dollars and times of --json', () => {
    expect(document(SAMPLE_EVENTS.transition)).toStrictEqual({
      kind: 'transition',
      at: AT,
      agent: 'main',
      from: 'START.md',
      tag: 'call',
      to: 'NEXT.md',
      cost_usd: 0.4123,
      tokens: TOKENS,
      guard: null,
      implicit: true,
      session_id: 's2',
      depth: 1,
      input: 'text',
      tags: SAMPLE_EVENTS.transition.tags,
      requested: SAMPLE_EVENTS.transition.requested,
      session_use: 'resume',
      cwd: '/home',
      decided_by: 'evaluator',
      decider: 'JUDGE.md',
      why: 'a test is missing',
    });
    expect(document(SAMPLE_EVENTS.turn_ended)).toStrictEqual({
      kind: 'turn_ended',
      at: AT,
      agent: 'main',
      state: 'START.md',
      evaluator: 'JUDGE.md',
      turn: 2,
      session_id: 's2',
      cost_usd: 0.2208,
      estimated: true,
      canned: true,
      tokens: TOKENS,
      models: [{ model: 'claude-opus-5-5', cost_usd: 0.2208, tokens: TOKENS }],
      spent_usd: 0.4123,
      duration_ms: 1234,
      failure: 'timeout',
      denials: ['Bash'],
    });
    expect(document(SAMPLE_EVENTS.sleeping)).toMatchObject({ until: '2026-11-16T22:15:04.000Z', why: 'retry' });
    expect(document(SAMPLE_EVENTS.run_ended)).toStrictEqual({
      kind: 'run_ended',
      at: AT,
      status: 'completed',
      cost_usd: 1.5,
      estimated_usd: 0.25,
      canned_usd: 0.1,
      tokens: TOKENS,
    });
  });

  test('has the version of the event format at the start and at a resume', () => {
    expect(document(SAMPLE_EVENTS.run_started)).toMatchObject({
      events_version: 1,
      run_id: 'r1',
      workflow_path: '/wf',
    });
    expect(document(SAMPLE_EVENTS.run_resumed)).toMatchObject({ events_version: 1 });
  });

  test('has the options as the config file spells them', () => {
    const { options } = createEventDocument(SAMPLE_EVENTS.run_resumed) as { options: Record<string, unknown> };
    expect(Object.keys(options).sort()).toStrictEqual(OPTIONS.map(({ key }) => (key === 'var' ? 'vars' : key)).sort());
    expect(options).toMatchObject({ budget: 2.5, timeout: 1.5, max_iterations: null, vars: { issue: '7' } });
  });

  test('has the session of a turn, but not for a script', () => {
    const { turn_started } = SAMPLE_EVENTS;
    const script = { session_id: null, session_use: null, forked_from: null };
    expect(document(turn_started)).toMatchObject({ session_id: 's2', session_use: 'fork', forked_from: 's1' });
    expect(document({ ...turn_started, session: null })).toMatchObject(script);
    expect(document({ ...turn_started, session: { kind: 'new', id: 's1' } })).toMatchObject({
      session_id: 's1',
      session_use: 'new',
      forked_from: null,
    });
  });

  test('has the reason of a stop, and its end only for a usage limit', () => {
    const { run_stopping } = SAMPLE_EVENTS;
    const limit = { why: 'usage_limit', until: '2026-11-16T22:16:02.000Z', message: 'limit' };
    expect(document(run_stopping)).toMatchObject(limit);
    expect(document({ ...run_stopping, stop: { kind: 'budget' } })).toMatchObject({
      why: 'budget',
      until: null,
      message: null,
    });
  });

  test.each(Object.values(SAMPLE_EVENTS))('has everything of $kind', (event) => {
    const whole = document(event);
    for (const [name, value] of Object.entries(event).filter(([name]) => name !== 'kind')) {
      expect(document({ ...event, [name]: changed(value) } as Event), name).not.toStrictEqual(whole);
    }
  });

  test.each(Object.values(SAMPLE_EVENTS))('spells $kind in snake_case', (event) => {
    expect(namesIn(createEventDocument(event)).filter((name) => !/^[a-z_]+$/.test(name))).toStrictEqual([]);
  });
});

/** Something else of the same type. */
function changed(value: unknown): unknown {
  if (typeof value === 'number') return value + 1_000;
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return `${value}x`;
  if (value === null) return 'something';
  if (Array.isArray(value)) return [...value, value.at(-1) ?? 'more'];
  return Object.fromEntries(Object.entries(value as object).map(([name, each]) => [name, changed(each)]));
}

const namesIn = (value: unknown): readonly string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, each]) => [...(Array.isArray(value) ? [] : [name]), ...namesIn(each)])
    : [];
