import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDone } from '../../src/core/run/agent.ts';
import { withChange } from '../../src/core/run/change.ts';
import type { Run } from '../../src/core/run/run.ts';
import { step } from '../../src/core/step.ts';
import { due } from '../../src/core/turns/due.ts';
import { TurnScheduler } from '../../src/core/turns/turn-scheduler.ts';
import { action, CostMeter, signalOf, WORKFLOW } from './random-run.ts';
import { startRun } from './run-driver.ts';

const pairs = fc.array(fc.tuple(action, action), { minLength: 10, maxLength: 60 });
const fresh = () =>
  startRun(WORKFLOW, {
    budgetMicros: 3_000_000,
    parallel: 3,
    slowAt: 40,
    reserve: 20,
    parallelScripts: 2,
    workspace: '/r#v1',
  });

/** A join that ends others waits for exactly those of them that have not ended. */
function expectTrueJoins({ agents }: Run): void {
  for (const { phase } of agents) {
    if (phase.kind !== 'joining' || phase.ending === 0) continue;
    expect(phase.ending).toBe(agents.filter((agent) => agent.joinedBy === phase.join && !isDone(agent)).length);
  }
}

test('signals that were on their way at the same time can be applied one after the other, whatever the first has changed', () => {
  fc.assert(
    fc.property(pairs, (story) => {
      let run = fresh();
      const scheduler = new TurnScheduler(run);
      for (const both of story) {
        const meter = new CostMeter();
        const [first, second] = both.map((each) => signalOf(run, each, meter));
        const isPair =
          first !== undefined &&
          second !== undefined &&
          'agent' in first &&
          'agent' in second &&
          first.agent !== second.agent;
        for (const signal of isPair ? [first, second] : [first]) {
          if (signal === undefined) continue;
          const applied = withChange(run, step(run, signal, { kept: 1, batch: 2 }));
          run = applied.step.run;
          scheduler.update(signal, applied);
          expectTrueJoins(run);
          expect(due(run).length > 0).toBe(run.status === 'running');
          const agentsOf = (turns: readonly { agent: string }[]) => turns.map(({ agent }) => agent).sort();
          expect(agentsOf(scheduler.due())).toStrictEqual(agentsOf(due(run)));
        }
      }
    }),
    { numRuns: 500 },
  );
});
