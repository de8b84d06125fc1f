import fc from 'fast-check';
import { expect, test } from 'vitest';
import { recordedTurn } from '../../src/core/run/agent.ts';
import { countPhases, indexOfAgent, sumClaudeTurns } from '../../src/core/run/agent-index.ts';
import { withChange } from '../../src/core/run/change.ts';
import { getAgent, type Run } from '../../src/core/run/run.ts';
import { WORKSPACE } from '../../src/core/run/workspace.ts';
import { step } from '../../src/core/step.ts';
import { due, type Turn } from '../../src/core/turns/due.ts';
import { TurnScheduler } from '../../src/core/turns/turn-scheduler.ts';
import { action, applyActions, CostMeter, WORKFLOW } from './random-run.ts';
import { startRun } from './run-driver.ts';

const story = fc.array(action, { minLength: 20, maxLength: 120 });
const fresh = () =>
  startRun(WORKFLOW, {
    budgetMicros: 3_000_000,
    parallel: 3,
    slowAt: 40,
    reserve: 20,
    parallelScripts: 2,
    workspace: '/r#v1',
  });

const PLACE = { path: '/c', branch: 'b/main', base: 'c0ffee', repository: '/c/.git', remote: '/r' };

const isSleepOrRecorded = (turn: Turn): boolean => !('record' in turn) || turn.record !== null;

/** Sleeps and turns on record start all at once: only among new turns does the order say who comes first. */
const byKind = (turns: readonly Turn[]) => ({
  prompts: turns.filter((turn) => turn.kind === 'claude' && turn.record === null),
  scripts: turns.filter((turn) => turn.kind === 'script' && turn.record === null),
  others: turns.filter(isSleepOrRecorded).toSorted((a, b) => a.agent.localeCompare(b.agent)),
});

/** What is remembered about the agents of a run must be what one would find out by looking at all of them. */
function expectTrueNotes({ agents }: Run): void {
  agents.forEach((agent, place) => {
    expect(indexOfAgent(agents, agent.id)).toBe(place);
  });
  expect(countPhases(agents)).toStrictEqual(countPhases([...agents]));
  expect(sumClaudeTurns(agents)).toStrictEqual(sumClaudeTurns([...agents]));
}

test('the scheduler has the same turns as `due` after every step', () => {
  fc.assert(
    fc.property(story, fc.infiniteStream(fc.boolean()), (actions, coins) => {
      const run = fresh();
      const agenda = new TurnScheduler(run);
      const attended = new Set<string>();
      applyActions(run, actions, new CostMeter(), (before, signal, after, events) => {
        agenda.update(signal, withChange(before, { run: after, events }));
        if ('agent' in signal) attended.delete(signal.agent);
        if (signal.kind.startsWith('workspace_')) attended.delete(WORKSPACE);
        // What was started for an agent is forgotten if another step than its own leaves it without a turn.
        for (const { id, phase } of after.agents) {
          const isChanged = before.agents.find((agent) => agent.id === id)?.phase !== phase;
          if (isChanged && recordedTurn(phase) === null) attended.delete(id);
        }
        // Nobody waits for the sleeps of a run that has ended.
        if (before.status === 'running' && after.status !== 'running')
          for (const { id, phase } of after.agents)
            if (phase.kind === 'sleeping' || phase.kind === 'joining') attended.delete(id);
        expect(byKind(agenda.due())).toStrictEqual(byKind(due(after, attended)));
        for (const { agent } of agenda.due().filter(isSleepOrRecorded)) {
          if (!coins.next().value) continue;
          agenda.markStarted(agent);
          attended.add(agent);
        }
        const isAsking = (id: string): boolean => id !== WORKSPACE && getAgent(after, id).phase.kind === 'asking';
        expect(agenda.isIdle).toBe([...attended].every(isAsking));
        expect(byKind(agenda.due())).toStrictEqual(byKind(due(after, attended)));
        expectTrueNotes(after);
      });
    }),
  );
});

test('a new scheduler, as after a crash, has the same turns as one that followed all steps', () => {
  fc.assert(
    fc.property(story, (actions) => {
      const run = fresh();
      const agenda = new TurnScheduler(run);
      applyActions(run, actions, new CostMeter(), (before, signal, after, events) => {
        agenda.update(signal, withChange(before, { run: after, events }));
        expect(byKind(agenda.due())).toStrictEqual(byKind(new TurnScheduler(after).due()));
      });
    }),
  );
});

test('a signal about the whole run may change every agent', () => {
  fc.assert(
    fc.property(story, (actions) => {
      const before = fresh();
      const scheduler = new TurnScheduler(before);
      const { run: after } = applyActions(fresh(), actions, new CostMeter());
      scheduler.update({ kind: 'stopped', at: 0, by: 'stopped' }, withChange(before, { run: after, events: [] }));
      expect(scheduler.due()).toStrictEqual(new TurnScheduler(after).due());
    }),
  );
});

test('two branches of a run keep their agents apart', () => {
  const run = step(fresh(), { kind: 'workspace_made', at: 0, place: PLACE }).run;
  const forks = (state: string, count: number) =>
    Array.from({ length: count }, () => `<fork next="A" n="1">${state}</fork>`);
  const [one, other] = [forks('B', 3), forks('S', 2)].map((texts) => {
    const began = { pick: 0, text: texts.join(' '), failure: null, progress: 'none', micros: 1 } as const;
    const actions = Array.from({ length: 2 }, () => ({ ...began, killed: false, denied: false, interlude: null }));
    return applyActions(run, actions, new CostMeter()).run;
  }) as [Run, Run];
  expect(one.agents.map(({ id }) => id)).toStrictEqual(['main', 'main_b1', 'main_b2', 'main_b3']);
  expect(other.agents.map(({ id }) => id)).toStrictEqual(['main', 'main_s1', 'main_s2']);
  for (const each of [one, other, run]) expectTrueNotes(each);
  expect(indexOfAgent(one.agents, 'main_s1')).toBe(-1);
});
