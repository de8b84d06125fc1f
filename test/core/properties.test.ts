import fc from 'fast-check';
import { expect, test } from 'vitest';
import { due } from '../../src/core/due.ts';
import type { Event } from '../../src/core/event.ts';
import type { Run } from '../../src/core/run.ts';
import { initialEvents } from '../../src/core/step.ts';
import { parseRun, serializeRun } from '../../src/store/state-file.ts';
import { start } from './play.ts';
import { BOOK, deed, playOn, Till } from './random-play.ts';

const story = fc.array(deed, { minLength: 20, maxLength: 120 });
const fresh = () => start(BOOK, { budgetMicros: 3_000_000, parallel: 3 });

test('the random stories reach every corner of the interpreter', () => {
  const seen = new Set<string>();
  const kinds = new Set<string>();
  for (const deeds of fc.sample(story, { numRuns: 400, seed: 7 })) {
    playOn(fresh(), deeds, new Till(), (_before, signal, after, events) => {
      seen.add(signal.kind);
      for (const event of events) kinds.add(event.kind);
      for (const agent of after.agents) kinds.add(`phase ${agent.phase.kind}`);
    });
  }
  expect([...seen].sort()).toStrictEqual(['answered', 'began', 'failed', 'resumed', 'stopped', 'woke']);
  expect([...kinds].sort()).toStrictEqual(
    [
      ...['agent_ended', 'agent_failed', 'agent_paused', 'agent_resumed', 'agent_started', 'answer_withheld'],
      ...['phase ended', 'phase failed', 'phase limited', 'phase paused', 'phase ready', 'phase running'],
      ...['phase sleeping', 'phase withheld', 'reminded', 'run_ended', 'run_resumed', 'run_stopping', 'session_lost'],
      ...['sleeping', 'transition', 'turn_ended', 'turn_started', 'visit_limit', 'warning', 'woken'],
    ].sort(),
  );
});

test('a saved run goes on as if it had never stopped', () => {
  fc.assert(
    fc.property(story, fc.nat(120), (deeds, cut) => {
      const whole = playOn(fresh(), deeds, new Till());
      const till = new Till();
      const before = playOn(fresh(), deeds.slice(0, cut), till);
      const loaded = parseRun(serializeRun(before.run), 'run.json');
      expect(loaded).toStrictEqual(before.run);
      expect(due(loaded)).toStrictEqual(due(before.run));
      const after = playOn(loaded, deeds.slice(cut), till);
      expect(after.run).toStrictEqual(whole.run);
      expect([...before.events, ...after.events]).toStrictEqual(whole.events);
    }),
  );
});

test('a step never changes what it was given', () => {
  fc.assert(
    fc.property(story, (deeds) => {
      playOn(deepFreeze(fresh()), deeds, new Till(), (before, signal, after) => {
        deepFreeze(signal);
        deepFreeze(after);
        expect(before.seq + 1).toBe(after.seq);
      });
    }),
  );
});

test('every push is popped by exactly one result, and what comes back is the caller as it was', () => {
  fc.assert(
    fc.property(story, (deeds) => {
      const stacks = new Map<string, string[]>([['main', []]]);
      playOn(fresh(), deeds, new Till(), (before, _signal, after, events) => {
        for (const event of events) {
          if (event.kind === 'agent_started') stacks.set(event.agent, []);
          if (event.kind !== 'transition') continue;
          const stack = stacks.get(event.agent) ?? [];
          const agent = before.agents.find(({ id }) => id === event.agent);
          const now = after.agents.find(({ id }) => id === event.agent);
          if (event.tag === 'call' || event.tag === 'function') {
            stack.push(JSON.stringify([now?.stack.at(-1)?.state, agent?.cwd, agent?.model]));
          }
          if (event.tag === 'reset' && event.depth === 0) stack.length = 0;
          if (event.tag === 'result') {
            const frame = stack.pop();
            expect(frame === undefined).toBe(event.to === null);
            if (frame !== undefined) expect(frame).toBe(JSON.stringify([event.to, now?.cwd, now?.model]));
          }
          expect(now?.stack.length).toBe(event.to === null ? agent?.stack.length : stack.length);
        }
      });
    }),
  );
});

test('worker ids never repeat, and no agent is ever forgotten', () => {
  fc.assert(
    fc.property(story, (deeds) => {
      const { run } = playOn(fresh(), deeds, new Till(), (before, _signal, after) => {
        expect(after.agents.slice(0, before.agents.length).map(({ id }) => id)).toStrictEqual(
          before.agents.map(({ id }) => id),
        );
      });
      const ids = run.agents.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    }),
  );
});

test('the ledger equals the sum of what was really paid, reported or estimated', () => {
  fc.assert(
    fc.property(story, (deeds) => {
      const till = new Till();
      const { run, events } = playOn(fresh(), deeds, till);
      expect(run.ledger.spentMicros).toBe(till.paidMicros);
      expect(sum(run.agents.map(({ costMicros }) => costMicros))).toBe(till.paidMicros);
      expect(sum(Object.values(run.ledger.states).map(({ micros }) => micros))).toBe(till.paidMicros);
      expect(sum(events.map((event) => (event.kind === 'turn_ended' ? event.costMicros : 0)))).toBe(till.paidMicros);
    }),
  );
});

test('no paid turn starts once the budget is used up, and never more than `parallel` at once', () => {
  fc.assert(
    fc.property(story, (deeds) => {
      playOn(fresh(), deeds, new Till(), (before, signal, after) => {
        const paid = after.agents.filter(({ phase }) => phase.kind === 'running' && phase.turn.session !== null);
        expect(paid.length).toBeLessThanOrEqual(3);
        const starts =
          signal.kind === 'began' &&
          after.agents.some((agent, i) => agent.phase.kind === 'running' && before.agents[i]?.phase.kind !== 'running');
        if (starts) expect(before.ledger.spentMicros).toBeLessThan(before.options.budgetMicros ?? 0);
      });
    }),
  );
});

test('a run is running exactly as long as something is due', () => {
  fc.assert(
    fc.property(story, (deeds) => {
      playOn(fresh(), deeds, new Till(), (_before, _signal, after) => {
        expect(due(after).length > 0).toBe(after.status === 'running');
      });
    }),
  );
});

test('whoever has only the events knows where every agent is, what it cost and how it ended', () => {
  fc.assert(
    fc.property(story, (deeds) => {
      const run = fresh();
      const played = playOn(run, deeds, new Till());
      expect(retold([...initialEvents(run), ...played.events])).toStrictEqual(summary(played.run));
    }),
  );
});

interface Told {
  state: string;
  doing: string;
  costMicros: number;
}

/** An observer that sees nothing but events. */
function retold(events: readonly Event[]): { status: string; agents: Record<string, Told> } {
  const agents: Record<string, Told> = {};
  let status = 'running';
  const tell = (id: string, news: Partial<Told>) => {
    agents[id] = { ...(agents[id] ?? { state: '', doing: 'ready', costMicros: 0 }), ...news };
  };
  for (const event of events) {
    if (event.kind === 'run_ended') status = event.status;
    if (event.kind === 'run_resumed') status = 'running';
    if (!('agent' in event)) continue;
    const { agent } = event;
    if (event.kind === 'turn_ended')
      tell(agent, { doing: 'ready', costMicros: (agents[agent]?.costMicros ?? 0) + event.costMicros });
    else if (event.kind === 'transition') tell(agent, { state: event.to ?? event.state });
    else if (event.kind in DOING) tell(agent, { doing: DOING[event.kind] ?? 'ready', state: event.state });
  }
  return { status, agents };
}

const DOING: Partial<Record<Event['kind'], string>> = {
  agent_started: 'ready',
  turn_started: 'running',
  sleeping: 'sleeping',
  woken: 'ready',
  answer_withheld: 'withheld',
  visit_limit: 'limited',
  agent_paused: 'paused',
  agent_resumed: 'ready',
  agent_failed: 'failed',
  agent_ended: 'ended',
};

function summary(run: Run): { status: string; agents: Record<string, Told> } {
  const agents = run.agents.map(
    ({ id, state, phase, costMicros }) => [id, { state, doing: phase.kind, costMicros }] as const,
  );
  return { status: run.status, agents: Object.fromEntries(agents) };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
