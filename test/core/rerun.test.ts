import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beginAgain, type RerunPlan, rewindTurns } from '../../src/core/rerun.ts';
import type { Agent } from '../../src/core/run/agent.ts';
import { changeOf } from '../../src/core/run/change.ts';
import type { Event } from '../../src/core/run/event.ts';
import type { Run } from '../../src/core/run/run.ts';
import { step } from '../../src/core/step.ts';
import { due } from '../../src/core/turns/due.ts';
import { readRunBefore } from '../../src/storage/run-before.ts';
import { validateRun } from '../../src/storage/run-schema.ts';
import type { JournaledStep, JournalReader } from '../../src/storage/storage.ts';
import { action, applyActions, CostMeter, WORKFLOW } from './random-run.ts';
import { RunDriver, startRun } from './run-driver.ts';

const story = fc.array(action, { minLength: 20, maxLength: 90 });

/** A random run with its journal, and the run before each of its turns. */
function recordRun(actions: Parameters<typeof applyActions>[1]) {
  const first = startRun(WORKFLOW, { budgetMicros: 3_000_000, parallel: 3 });
  const at = { offset: 0, owner: 0 };
  const head = { seq: 0, head: {}, agents: [], events: [], start: { ...first, mark: null, bootId: null } };
  const steps: JournaledStep[] = [{ seq: 0, change: head, ...at } as JournaledStep];
  const turns: { readonly seq: number; readonly before: Run; readonly agent: string }[] = [];
  applyActions(first, actions, new CostMeter(), (before, _signal, after, events) => {
    const change = JSON.parse(JSON.stringify(changeOf(before, { run: after, events })));
    steps.push({ seq: after.seq, change, ...at } as JournaledStep);
    for (const event of events)
      if (event.kind === 'turn_started') turns.push({ seq: after.seq, before, agent: event.agent });
  });
  const journal: Pick<JournalReader, 'read'> = {
    async *read() {
      yield* steps;
    },
  };
  return { journal, turns };
}

const planFor = (run: Run, agent: string, changes: Partial<RerunPlan> = {}): RerunPlan => ({
  id: 'again',
  name: 'again',
  startedAt: 9_000_000,
  attended: false,
  workflow: run.workflow,
  code: null,
  joins: false,
  options: run.options,
  workFolders: null,
  workspace: null,
  origin: { run: run.id, point: `${agent}/1`, ends: {}, overlay: null },
  agent,
  only: false,
  copyOf: (session) => `copy of ${session}`,
  moved: (folder) => `/new${folder}`,
  worktrees: new Map(),
  ...changes,
});

test('the run before each turn is rebuilt from the journal, and begins again there', async () => {
  let turnCount = 0;
  await fc.assert(
    fc.asyncProperty(story, async (actions) => {
      const { journal, turns } = recordRun(actions);
      for (const { seq, before, agent } of turns) {
        turnCount += 1;
        const earlier = await readRunBefore(journal, 'run-1', seq);
        expect(earlier.run).toStrictEqual(JSON.parse(JSON.stringify(before)));
        for (const only of [false, true]) {
          const run = beginAgain(earlier, planFor(earlier.run, agent, { only }));
          expect(validateRun(JSON.parse(JSON.stringify(run)), 'rerun')).toStrictEqual(JSON.parse(JSON.stringify(run)));
          const wanted = due(run).find((turn) => turn.agent === agent);
          const original = due(before).find((turn) => turn.agent === agent);
          expect(wanted).toMatchObject({
            kind: original?.kind,
            state: original && 'state' in original && original.state,
          });
          expect(run.ledger.spentMicros + run.agents.reduce((sum, each) => sum + each.costMicros, 0)).toBe(0);
          expect(run.agents.map(({ id, turns: count }) => [id, count])).toStrictEqual(
            rewindTurns(earlier).agents.map(({ id, turns: count }) => [id, count]),
          );
          // It can be driven to any end.
          applyActions(run, actions, new CostMeter());
        }
      }
    }),
    { numRuns: 30 },
  );
  expect(turnCount).toBeGreaterThan(150);
});

const FORKS = { files: ['START.md', 'WORK.md', 'WAIT.md', 'END.md'] };

function journalOf(driver: (apply: (act: (run: RunDriver) => void) => void) => void) {
  const run = new RunDriver(FORKS);
  const head = {
    seq: 0,
    head: {},
    agents: [],
    events: [...run.events],
    start: { ...run.run, mark: null, bootId: null },
  };
  const steps = [{ seq: 0, change: head, offset: 0 } as unknown as JournaledStep];
  const apply = run.apply.bind(run);
  run.apply = (signal) => {
    const before = run.run;
    const next = apply(signal);
    steps.push({ seq: next.run.seq, change: changeOf(before, next), offset: 0 } as unknown as JournaledStep);
    return next;
  };
  driver((act) => act(run));
  const seqOf = (wanted: (event: Event) => boolean): number =>
    steps.find(({ change }) => change.events.some(wanted))?.seq ?? -1;
  const journal: Pick<JournalReader, 'read'> = {
    async *read() {
      yield* steps;
    },
  };
  return { journal, seqOf, run };
}

const agentOf = (run: Run, id: string): Agent | undefined => run.agents.find((agent) => agent.id === id);

test('a turn of another agent that was under way counts as not begun, with what was said into it before its prompt', async () => {
  const { journal, seqOf, run } = journalOf((act) =>
    act((driver) => {
      driver.answer('<fork next="WAIT">WORK</fork>');
      const worker = driver.run.agents[1]?.id ?? '';
      driver.begin(worker);
      driver.apply({
        kind: 'said',
        at: 2_000,
        about: { agent: worker },
        said: 'm1',
        text: 'be quick',
        by: 'me',
        saidAt: 2_000,
        isReachable: true,
      });
      driver.begin('main');
    }),
  );
  const worker = run.run.agents[1]?.id ?? '';
  const seq = seqOf((event) => event.kind === 'turn_started' && event.agent === 'main' && event.turn === 2);
  const earlier = await readRunBefore(journal, 'run-1', seq);
  const again = beginAgain(earlier, planFor(earlier.run, 'main'));
  expect(agentOf(again, worker)).toMatchObject({
    turns: 0,
    phase: { kind: 'ready', prompt: { kind: 'state' } },
    messages: [{ id: 'm1', turn: null, delivered: false }],
    visits: {},
  });
  expect(again.iterations).toBe(1);
  const only = beginAgain(earlier, planFor(earlier.run, worker, { only: true }));
  expect(only.agents.map(({ id, phase, joinedBy }) => [id, phase.kind, joinedBy])).toStrictEqual([
    ['main', 'cancelled', 0],
    [worker, 'ready', null],
  ]);
  // The run ends with the one that is left.
  let left = only;
  const files = { files: FORKS.files, platform: 'unix' } as const;
  const rules = { policy: [], maxVisits: null };
  left = step(left, { kind: 'began', at: 1, agent: worker, sessionId: 's9', rules, warnings: [] }).run;
  left = step(left, {
    kind: 'answered',
    at: 2,
    agent: worker,
    text: '<result>done</result>',
    cost: null,
    denials: [],
    folders: {},
    scope: files,
  }).run;
  expect(left.status).toBe('completed');
});

test('input, message, conversations and folders of the first agent are those of the plan', async () => {
  const { journal, seqOf } = journalOf((act) =>
    act((driver) => driver.answer('<goto>WORK</goto>', '<goto>END</goto>')),
  );
  const seq = seqOf((event) => event.kind === 'turn_started' && event.state === 'WORK.md');
  const earlier = await readRunBefore(journal, 'run-1', seq);
  const message = { id: 'm', text: 'hint', by: 'me', saidAt: 1, turn: null, delivered: false };
  const run = beginAgain(earlier, planFor(earlier.run, 'main', { input: 'other', message }));
  expect(agentOf(run, 'main')).toMatchObject({
    state: 'WORK.md',
    input: 'other',
    cwd: '/new/w',
    session: { kind: 'open', id: 'copy of s1' },
    messages: [message],
    turns: 1,
  });
  const forgotten = beginAgain(earlier, planFor(earlier.run, 'main', { copyOf: () => null }));
  expect(agentOf(forgotten, 'main')).toMatchObject({
    session: null,
    phase: { kind: 'ready', prompt: { kind: 'state' } },
  });
});
