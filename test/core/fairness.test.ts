import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Agent } from '../../src/core/run/agent.ts';
import { withChange } from '../../src/core/run/change.ts';
import { getAgent, type Run } from '../../src/core/run/run.ts';
import type { Signal } from '../../src/core/signals/signal.ts';
import { step } from '../../src/core/step.ts';
import { TurnScheduler } from '../../src/core/turns/turn-scheduler.ts';
import { scopeOfWorkflow, startRun } from './run-driver.ts';

const WORKFLOW = { files: ['START.md', 'WORK.md', 'MORE.md', 'CHECK.sh'] };
const RULES = { policy: [], maxVisits: null };

const UNUSABLE = 'no tag at all';

/** What the turns of a run say, chosen by chance: forks, detours, scripts, unusable answers and shares that are used up. */
const ANSWERS: readonly string[] = [
  '<fork next="START">WORK</fork>',
  '<fork next="START">WORK</fork><fork>WORK</fork><fork>WORK</fork>',
  '<goto>WORK</goto>',
  '<goto>MORE</goto>',
  '<goto>MORE</goto>',
  '<goto>CHECK</goto>',
  '<reset>START</reset>',
  UNUSABLE,
  'share',
  'share',
  '<result>done</result>',
];

/** Any answer; main never ends. */
const chooseAny = (agent: string, chance: number): string =>
  ANSWERS[chance % (ANSWERS.length - (agent === 'main' ? 1 : 0))] ?? '';

/** A turn of Claude Code that began: its agent before and the run at that moment. */
interface Beginning {
  readonly agent: Agent;
  readonly run: Run;
}

/** Plays an endless run in which main never ends, and returns the beginnings of its Claude turns in order. */
function play(
  parallel: number,
  turns: number,
  chance: () => number,
  choose = chooseAny,
): { readonly beginnings: readonly Beginning[]; readonly run: Run } {
  const beginnings: Beginning[] = [];
  const underWay: (() => Signal)[] = [];
  let run = startRun(WORKFLOW, { parallel, budgetMicros: 1e12 });
  const scheduler = new TurnScheduler(run);
  const say = (signal: Signal): void => {
    const applied = withChange(run, step(run, signal));
    run = applied.step.run;
    scheduler.update(signal, applied);
  };
  const answer = (agent: string, isScript: boolean): Signal => {
    const chosen = choose(agent, chance());
    // A second unusable answer would be the end of the agent.
    const text = isScript || (chosen === UNUSABLE && getAgent(run, agent).reminders > 0) ? '<goto>MORE</goto>' : chosen;
    const cost = { kind: 'reported', micros: 1 } as const;
    if (text === 'share') {
      const failure = { kind: 'budget', message: 'the share is used up' } as const;
      return { kind: 'failed', at: 1, agent, failure, cost, progress: 'answer', jitter: 0 };
    }
    const scope = scopeOfWorkflow(WORKFLOW);
    return { kind: 'answered', at: 1, agent, text, denials: [], folders: {}, scope, cost: isScript ? null : cost };
  };
  while (beginnings.length < turns) {
    for (const turn of scheduler.due()) {
      const { agent } = turn;
      if (!('record' in turn)) throw new Error('nobody sleeps here');
      if (turn.kind === 'claude' && turn.record === null) beginnings.push({ agent: getAgent(run, agent), run });
      if (turn.record === null) say({ kind: 'began', at: 0, agent, sessionId: agent, rules: RULES, warnings: [] });
      scheduler.markStarted(agent);
      underWay.push(() => answer(agent, turn.kind === 'script'));
    }
    const [ended] = underWay.splice(chance() % underWay.length, 1);
    if (ended === undefined) throw new Error('nothing is under way');
    say(ended());
  }
  return { beginnings, run };
}

const readySince = ({ phase }: Agent): number => (phase.kind === 'ready' ? phase.since : Number.POSITIVE_INFINITY);

/** The workers of this agent that wait for their first turn, at least for as long as it waits for its own. */
const passedOver = ({ agent, run }: Beginning): readonly string[] =>
  run.agents
    .filter((each) => each.parent === agent.id && each.turns === 0 && readySince(each) <= readySince(agent))
    .map(({ id }) => id);

const CASE = [fc.integer({ min: 1, max: 5 }), fc.infiniteStream(fc.nat(9_999))] as const;

test('a parent goes before a worker that has not begun at most every second time', () => {
  fc.assert(
    fc.property(...CASE, (parallel, chances) => {
      const last = new Map<string, readonly string[]>();
      for (const beginning of play(parallel, 150, () => chances.next().value).beginnings) {
        const { id } = beginning.agent;
        const passed = passedOver(beginning);
        expect(passed.filter((worker) => last.get(id)?.includes(worker))).toStrictEqual([]);
        last.set(id, passed);
      }
    }),
    { numRuns: 40 },
  );
});

test('nobody waits forever, although no agent ever ends', () => {
  const choose = (agent: string, chance: number): string =>
    agent === 'main' && chance % 2 === 0 ? '<fork next="START">WORK</fork>' : '<goto>MORE</goto>';
  fc.assert(
    fc.property(...CASE, (parallel, chances) => {
      const { beginnings, run } = play(parallel, 1000, () => chances.next().value, choose);
      const waiting = run.agents.filter(({ phase }) => phase.kind === 'ready').map((agent) => ({ agent, run }));
      for (const [at, { agent }] of [...beginnings, ...waiting].entries()) {
        const before = beginnings.findIndex((earlier) => earlier.run.seq >= readySince(agent));
        if (before < 0) continue;
        const others = beginnings[before]?.run.agents.length ?? 0;
        expect(Math.min(at, beginnings.length) - before).toBeLessThan(2 * 32 * others);
      }
    }),
    { numRuns: 10 },
  );
});
