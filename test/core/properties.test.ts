import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Agent, isDone, recordedTurn } from '../../src/core/run/agent.ts';
import { archivedCount } from '../../src/core/run/archive.ts';
import type { Event, Transitioned } from '../../src/core/run/event.ts';
import { getAgent, type Run } from '../../src/core/run/run.ts';
import type { Signal } from '../../src/core/signals/signal.ts';
import { initialEvents } from '../../src/core/step.ts';
import { due } from '../../src/core/turns/due.ts';
import { GUARD_OUTCOMES } from '../../src/language/guards.ts';
import type { Frame, Position } from '../../src/language/position.ts';
import type { FollowedTag } from '../../src/language/tags/followed-tag.ts';
import { namesakeOf, startsWorkers } from '../../src/language/transitions/index.ts';
import { parseRun, serializeRun } from '../../src/storage/run-schema.ts';
import { action, applyActions, CostMeter, missingAgents, WORKFLOW } from './random-run.ts';
import { startRun } from './run-driver.ts';

const story = fc.array(action, { minLength: 20, maxLength: 120 });
const fresh = () =>
  startRun(WORKFLOW, { budgetMicros: 3_000_000, parallel: 3, slowAt: 40, reserve: 20, workspace: '/r#v1' });

test('the random runs reach every part of the interpreter', () => {
  const seen = new Set<string>();
  const kinds = new Set<string>();
  for (const actions of fc.sample(story, { numRuns: 1500, seed: 7 })) {
    applyActions(fresh(), actions, new CostMeter(), (_before, signal, after, events) => {
      seen.add(signal.kind);
      for (const event of events) {
        kinds.add(event.kind);
        if (event.kind === 'transition' && event.guard !== undefined) kinds.add(`guard ${event.guard.outcome}`);
      }
      for (const agent of after.agents) kinds.add(`phase ${agent.phase.kind}`);
      if (archivedCount(after) > 0) kinds.add('archived');
      if (after.agents.some(({ evaluation }) => evaluation !== null)) kinds.add('evaluating');
    });
  }
  expect([...seen].sort()).toStrictEqual([
    'answered',
    'ask_answered',
    'ask_timed_out',
    'began',
    'cost_found',
    'failed',
    'heard',
    'home_lost',
    'interrupt',
    'quota_reported',
    'resumed',
    'said',
    'stopped',
    'woke',
    'workspace_left',
    'workspace_made',
    'workspace_refused',
    'worktree_closed',
    'worktree_made',
    'worktree_refused',
    'worktrees_discarded',
  ]);
  expect([...kinds].sort()).toStrictEqual(
    [
      'agent_ended',
      'agent_failed',
      'agent_paused',
      'agent_resumed',
      'agent_started',
      'answer_withheld',
      'ask_answered',
      'ask_timed_out',
      'asked',
      'evaluated',
      'evaluating',
      'phase asking',
      ...GUARD_OUTCOMES.map((outcome) => `guard ${outcome}`),
      'said',
      'said_delivered',
      'turn_interrupted',
      'agent_cancelled',
      'archived',
      'cancelling',
      'cost_corrected',
      'joined',
      'joining',
      'phase cancelled',
      'phase cancelling',
      'phase joining',
      'phase ended',
      'phase failed',
      'phase limited',
      'phase paused',
      'phase ready',
      'phase running',
      'phase sleeping',
      'phase withheld',
      'phase worktree',
      'rehomed',
      'worktree_discarded',
      'worktree_leaving',
      'worktree_left',
      'worktree_opening',
      'worktree_opened',
      'workspace_leaving',
      'workspace_left',
      'workspace_opened',
      'workspace_opening',
      'printed',
      'quota',
      'reminded',
      'run_ended',
      'run_resumed',
      'run_stopping',
      'session_lost',
      'sleeping',
      'transition',
      'turn_ended',
      'turn_started',
      'visit_limit',
      'warning',
      'woken',
    ].sort(),
  );
});

test('a saved run continues as if it had never stopped', () => {
  fc.assert(
    fc.property(story, fc.nat(120), (actions, cut) => {
      const whole = applyActions(fresh(), actions, new CostMeter());
      const meter = new CostMeter();
      const before = applyActions(fresh(), actions.slice(0, cut), meter);
      const loaded = parseRun(serializeRun(before.run), 'run.json');
      expect(loaded).toStrictEqual(before.run);
      expect(due(loaded)).toStrictEqual(due(before.run));
      const after = applyActions(loaded, actions.slice(cut), meter);
      expect(after.run).toStrictEqual(whole.run);
      expect([...before.events, ...after.events]).toStrictEqual(whole.events);
    }),
  );
});

const newHomeOf = (signal: Signal): string | undefined =>
  signal.kind === 'worktree_made' ? signal.home : signal.kind === 'home_lost' ? (signal.to ?? undefined) : undefined;

test('an agent begins where its parent is, and moves only into a worktree that was made elsewhere, or when its home is gone', () => {
  const started = { ...fresh(), agents: fresh().agents.map((agent) => ({ ...agent, node: 'w1' })) };
  let moves = 0;
  fc.assert(
    fc.property(story, (actions) => {
      applyActions(started, actions, new CostMeter(), (before, signal, after) => {
        const home = (run: Run, id: string | null) => run.agents.find((agent) => agent.id === id)?.node;
        for (const { id, parent, node: found } of after.agents) {
          const expected = home(before, id) ?? home(before, parent);
          const moved = 'agent' in signal && signal.agent === id ? newHomeOf(signal) : undefined;
          if (found !== expected) moves += 1;
          expect(found).toBe(moved ?? expected);
        }
      });
    }),
  );
  expect(moves).toBeGreaterThan(0);
});

test('a run comes to rest only once its clone was left, however it ended and was resumed', () => {
  const ends = new Set<string>();
  fc.assert(
    fc.property(story, (actions) => {
      let isOpen = false;
      applyActions(fresh(), actions, new CostMeter(), (_before, _signal, { status, workspace }, events) => {
        for (const { kind } of events) {
          if (kind === 'workspace_opened') isOpen = true;
          if (kind === 'workspace_left') isOpen = false;
          if (kind === 'run_ended') expect(isOpen).toBe(false);
        }
        if (status === 'running') return;
        ends.add(status);
        expect(workspace?.kind === 'left' || workspace?.place === null).toBe(true);
      });
    }),
    { numRuns: 1000 },
  );
  expect([...ends].sort()).toStrictEqual([
    'budget_exceeded',
    'completed',
    'failed',
    'iteration_limit',
    'paused',
    'waiting',
  ]);
});

test('a step never changes its arguments', () => {
  fc.assert(
    fc.property(story, (actions) => {
      applyActions(deepFreeze(fresh()), actions, new CostMeter(), (before, signal, after) => {
        deepFreeze(signal);
        deepFreeze(after);
        expect(before.seq + 1).toBe(after.seq);
      });
    }),
  );
});

test('every push is popped by exactly one result, and the caller is restored as it was', () => {
  fc.assert(
    fc.property(story, (actions) => {
      const stacks = new Map<string, string[]>([['main', []]]);
      applyActions(fresh(), actions, new CostMeter(), (before, _signal, after, events) => {
        for (const event of events) {
          if (event.kind === 'agent_started') stacks.set(event.agent, []);
          if (event.kind !== 'transition') continue;
          const stack = stacks.get(event.agent) ?? [];
          const agent = before.agents.find(({ id }) => id === event.agent);
          const now = after.agents.find(({ id }) => id === event.agent);
          const tag = namesakeOf(event.tag);
          if (tag === 'call' || tag === 'function') {
            stack.push(JSON.stringify([now?.stack.at(-1)?.state, agent?.cwd, agent?.model]));
          }
          if (tag === 'reset' && event.depth === 0) stack.length = 0;
          if (tag === 'result') {
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

test('worker ids never repeat, and only workers with a result leave the run, which counts them', () => {
  fc.assert(
    fc.property(story, (actions) => {
      const run = fresh();
      const played = applyActions(run, actions, new CostMeter(), (before, _signal, after) => {
        const missing = missingAgents(before, after);
        for (const { phase, parent } of missing) expect([phase.kind, parent === null]).toStrictEqual(['ended', false]);
        const kept = before.agents.filter((agent) => !missing.includes(agent));
        expect(after.agents.slice(0, kept.length).map(({ id }) => id)).toStrictEqual(kept.map(({ id }) => id));
      });
      const started = [...initialEvents(run), ...played.events].flatMap((event) =>
        event.kind === 'agent_started' ? [event.agent] : [],
      );
      expect(new Set(started).size).toBe(started.length);
      expect([...played.archived, ...played.run.agents].map(({ id }) => id).sort()).toStrictEqual(started.sort());
      expect(archivedCount(played.run)).toBe(played.archived.length);
    }),
  );
});

test('the ledger equals the sum of all reported and estimated costs', () => {
  fc.assert(
    fc.property(story, (actions) => {
      const meter = new CostMeter();
      const { run, events, archived } = applyActions(fresh(), actions, meter);
      expect(run.ledger.spentMicros).toBe(meter.paidMicros);
      expect(sum([...archived, ...run.agents].map(({ costMicros }) => costMicros))).toBe(meter.paidMicros);
      expect(sum(Object.values(run.ledger.states).map(({ micros }) => micros))).toBe(meter.paidMicros);
      expect(sum(events.map(chargeOf))).toBe(meter.paidMicros);
    }),
  );
});

/** What an event adds to the costs of its run. */
function chargeOf(event: Event): number {
  if (event.kind === 'cost_corrected') return event.costMicros - event.formerMicros;
  return event.kind === 'turn_ended' ? event.costMicros : 0;
}

test('no paid turn starts once the budget is used up, and never more than `parallel` at once', () => {
  fc.assert(
    fc.property(story, (actions) => {
      applyActions(fresh(), actions, new CostMeter(), (before, signal, after) => {
        const paid = after.agents.filter(({ phase }) => recordedTurn(phase)?.session != null);
        expect(paid.length).toBeLessThanOrEqual(3);
        const starts =
          signal.kind === 'began' &&
          getAgent(after, signal.agent).phase.kind === 'running' &&
          getAgent(before, signal.agent).phase.kind !== 'running';
        if (starts) expect(before.ledger.spentMicros).toBeLessThan(before.options.budgetMicros ?? 0);
      });
    }),
  );
});

test('a join takes note of each worker once, of its own workers only, and of none that can still continue', () => {
  fc.assert(
    fc.property(story, (actions) => {
      applyActions(fresh(), actions, new CostMeter(), (before, _signal, after) => {
        for (const agent of after.agents) {
          const earlier = before.agents.find(({ id }) => id === agent.id);
          if (earlier === undefined || earlier.joinedBy === null) continue;
          expect(agent.joinedBy).toBe(earlier.joinedBy);
          if (!isEnding(earlier)) expect(agent.phase).toStrictEqual(earlier.phase);
        }
      });
    }),
  );
});

test('a joining agent waits for as many workers as are missing, and what it has in hand stays', () => {
  fc.assert(
    fc.property(story, (actions) => {
      applyActions(fresh(), actions, new CostMeter(), (_before, _signal, after) => {
        for (const { id, phase, results } of after.agents) {
          const noted = (join: number) =>
            after.agents.filter(({ parent, joinedBy }) => parent === id && joinedBy === join);
          if (phase.kind === 'joining') {
            if (phase.ending === 0)
              expect([phase.done < phase.wanted, noted(phase.join).length]).toStrictEqual([true, phase.done]);
            else {
              const awaited = after.agents.filter((agent) => agent.joinedBy === phase.join && !isDone(agent));
              expect([phase.ending, awaited.every(isEnding)]).toStrictEqual([awaited.length, true]);
            }
          }
          if (results !== null) expect(noted(results).every(isDone)).toBe(true);
        }
      });
    }),
  );
});

const isEnding = ({ phase }: Agent): boolean =>
  phase.kind === 'cancelling' || (phase.kind === 'worktree' && phase.outcome !== null);

test('a run is running exactly as long as something is due', () => {
  fc.assert(
    fc.property(story, (actions) => {
      applyActions(fresh(), actions, new CostMeter(), (_before, _signal, after) => {
        expect(due(after).length > 0).toBe(after.status === 'running');
      });
    }),
  );
});

test('the events alone determine the position, costs and end of every agent', () => {
  fc.assert(
    fc.property(story, (actions) => {
      const run = fresh();
      const played = applyActions(run, actions, new CostMeter());
      expect(replayEvents([...initialEvents(run), ...played.events])).toStrictEqual(summary(played));
    }),
  );
});

test('the random runs contain every kind of turn that an observer must know', () => {
  const seen = new Set<string>();
  for (const actions of fc.sample(story, { numRuns: 1000, seed: 7 })) {
    for (const event of applyActions(fresh(), actions, new CostMeter()).events) {
      if (event.kind !== 'transition') continue;
      for (const { tag, attributes } of event.tags) for (const name in attributes) seen.add(`${tag} ${name}`);
    }
  }
  expect([...seen].sort()).toStrictEqual(
    [
      'call effort',
      'call input',
      'call model',
      'call return',
      'fork cd',
      'fork effort',
      'fork input',
      'fork model',
      'fork n',
      'fork next',
      'fork worktree',
      'function effort',
      'function input',
      'function model',
      'function return',
      'goto input',
      'ask display_files',
      'ask next',
      'ask timeout',
      'ask timeout_next',
      'reset cd',
      'reset input',
      'reset stack',
      'fork group',
      'fork-each in',
      'fork-each next',
      'join cancel',
      'join group',
      'join timeout',
      'join timeout_next',
      'join wait',
      ...['effort', 'input', 'model', 'return'].map((name) => `call-workflow ${name}`),
      ...['cd', 'effort', 'input', 'model', 'return'].map((name) => `function-workflow ${name}`),
      ...['cd', 'effort', 'input', 'model', 'n', 'next'].map((name) => `fork-workflow ${name}`),
      ...['cd', 'input', 'stack'].map((name) => `reset-workflow ${name}`),
    ].sort(),
  );
});

/** Where an agent stands, but for its conversation, of which each `turn_started` tells, and for its task folder. */
type AgentPosition = Omit<Position, 'session' | 'stack' | 'task' | 'callVisits' | 'nesting'> & {
  readonly stack: readonly Omit<Frame, 'session' | 'task' | 'callVisits' | 'nesting'>[];
};

interface ReplayedAgent extends AgentPosition {
  readonly doing: string;
  readonly costMicros: number;
}

/** An observer that sees nothing but events. */
function replayEvents(events: readonly Event[]): { status: string; agents: Record<string, ReplayedAgent> } {
  const agents: Record<string, ReplayedAgent> = {};
  let status = 'running';
  let forks: FollowedTag[] = [];
  for (const event of events) {
    if (event.kind === 'run_ended') status = event.status;
    if (event.kind === 'run_resumed') status = 'running';
    if (event.kind === 'workspace_opened')
      for (const [id, told] of Object.entries(agents)) agents[id] = moved(told, event);
    if (!('agent' in event)) continue;
    const { agent, state } = event;
    if (event.kind === 'agent_started') {
      // Each item of a `fork-each` is a worker.
      const fork = forks[0]?.tag === 'fork-each' ? forks[0] : forks.shift();
      const { model = null, effort = null } = fork?.attributes ?? {};
      const { cwd, input } = event;
      agents[agent] = { state, cwd, input, model, effort, stack: [], doing: 'ready', costMicros: 0 };
      continue;
    }
    const told = agents[agent];
    if (told === undefined) throw new Error(`nobody told of ${agent}`);
    const costMicros = told.costMicros + (event.kind === 'turn_ended' ? event.costMicros : 0);
    agents[agent] = { ...told, costMicros, doing: PHASE_AFTER[event.kind] ?? told.doing };
    if (event.kind === 'worktree_opened') agents[agent] = { ...agents[agent], cwd: event.cwd };
    // What a turn that is being ended comes to does not matter.
    if (event.kind === 'turn_ended' && told.doing === 'cancelling') agents[agent] = { ...told, costMicros };
    if (event.kind === 'joined') agents[agent] = { ...agents[agent], state: event.to };
    if (event.kind !== 'transition') continue;
    agents[agent] = { ...agents[agent], ...positionAfter(told, event) };
    forks = event.tags.filter(({ tag }) => startsWorkers(tag));
  }
  return { status, agents };
}

/** An agent that was in a folder whose place another one has taken. */
function moved(
  agent: ReplayedAgent,
  { from, path }: { readonly from: string | null; readonly path: string },
): ReplayedAgent {
  const move = <Part extends { readonly cwd: string }>(part: Part): Part =>
    from !== null && `${part.cwd}/`.startsWith(`${from}/`)
      ? { ...part, cwd: path + part.cwd.slice(from.length) }
      : part;
  return move({ ...agent, stack: agent.stack.map(move) });
}

/** Where the tags of a transition take an agent, told without the interpreter. */
function positionAfter(before: AgentPosition, { to, input, depth, tags, guard }: Transitioned): Partial<AgentPosition> {
  if (to === null) return {};
  if (guard !== undefined) return { state: to, input };
  const { cwd, model, effort, stack } = before;
  const last = tags.at(-1);
  switch (last && namesakeOf(last.tag)) {
    case 'call':
    case 'function': {
      const frame = { state: last?.attributes.return ?? '', cwd, model, effort };
      const asked = { model: last?.attributes.model ?? model, effort: last?.attributes.effort ?? effort };
      return { state: last?.target ?? '', input, cwd: last?.attributes.cd ?? cwd, ...asked, stack: [...stack, frame] };
    }
    case 'reset':
      return { state: last?.target ?? '', input, cwd: last?.attributes.cd ?? cwd, stack: depth === 0 ? [] : stack };
    case 'goto':
    case 'join':
    case 'compact':
      return { state: last?.target ?? '', input };
    case 'ask':
      return { state: to, input };
    case 'fork':
    case 'fork-each':
      return { state: last?.attributes.next ?? '', input };
    default:
      return { ...stack.at(-1), input, stack: stack.slice(0, -1) };
  }
}

const PHASE_AFTER: Partial<Record<Event['kind'], string>> = {
  agent_started: 'ready',
  turn_started: 'running',
  turn_ended: 'ready',
  sleeping: 'sleeping',
  woken: 'ready',
  asked: 'asking',
  ask_answered: 'ready',
  ask_timed_out: 'ready',
  answer_withheld: 'withheld',
  visit_limit: 'limited',
  agent_paused: 'paused',
  agent_resumed: 'ready',
  agent_failed: 'failed',
  agent_ended: 'ended',
  worktree_opening: 'worktree',
  worktree_opened: 'ready',
  worktree_leaving: 'worktree',
  joining: 'joining',
  joined: 'ready',
  cancelling: 'cancelling',
  agent_cancelled: 'cancelled',
};

function summary({ run, archived }: { readonly run: Run; readonly archived: readonly Agent[] }): {
  status: string;
  agents: Record<string, ReplayedAgent>;
} {
  const agents = [...archived, ...run.agents].map(
    ({ id, state, cwd, input, model, effort, stack, phase, costMicros }) => {
      const frames = stack.map(
        ({ session: _session, task: _task, callVisits: _visits, nesting: _nesting, ...frame }) => frame,
      );
      return [id, { state, cwd, input, model, effort, stack: frames, doing: phase.kind, costMicros }] as const;
    },
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

test('what was said is delivered until a conversation has it, and not once more', () => {
  fc.assert(
    fc.property(story, (actions) => {
      const waiting = new Map<string, string>();
      const delivered = new Map<string, number>();
      /** Words that are said later: after an interruption, or in answer to the question that it asks. */
      const later = new Set<string>();
      applyActions(fresh(), actions, new CostMeter(), (before, signal, after, events) => {
        for (const event of events) {
          if (event.kind === 'said' && event.refused === null) waiting.set(event.said, event.agent);
          if (event.kind === 'turn_interrupted') later.add(event.interrupt);
          if (event.kind === 'asked') later.add(event.ask);
          if (event.kind === 'said_delivered') {
            expect(waiting.has(event.said) || later.has(event.said)).toBe(true);
            delivered.set(event.said, event.turn);
          }
        }
        for (const [said, id] of waiting) {
          const agent = after.agents.find((each) => each.id === id);
          const kept = agent?.messages.find((each) => each.id === said);
          if (kept !== undefined) {
            // It is with a turn only as long as that runs.
            if (kept.turn !== null)
              expect(recordedTurn(agent?.phase ?? { kind: 'failed', message: '' })?.number).toBe(kept.turn);
            continue;
          }
          waiting.delete(said);
          const turn = recordedTurn(
            before.agents.find((each) => each.id === id)?.phase ?? { kind: 'failed', message: '' },
          );
          const isHeard = delivered.get(said) === turn?.number && 'agent' in signal && signal.agent === id;
          const isOver = agent === undefined || isDone(agent);
          expect(isHeard || isOver).toBe(true);
        }
      });
    }),
    { numRuns: 300 },
  );
});
