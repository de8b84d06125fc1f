import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/build.ts';
import { prove } from '../../src/graph/proof.ts';
import { findTermination } from '../../src/graph/termination.ts';
import {
  canEnd,
  canReturn,
  type RandomWorkflow,
  randomWorkflow,
  STATES,
  visitedStates,
  WorkflowExplorer,
} from '../lint/random-workflow.ts';
import { sourceOf } from '../lint/source-of.ts';

const proofOf = (story: RandomWorkflow) => prove(buildGraph(sourceOf(story.files)));

describe('the proof and the interpreter agree:', () => {
  test('a call can return if and only if it does in some run of the interpreter', () => {
    fc.assert(
      fc.property(randomWorkflow, (story) => {
        const { flow, ends } = proofOf(story);
        const proved = STATES.map((state) => ends.returns[flow.numberOf(state)]);
        expect(proved).toStrictEqual(STATES.map((state) => canReturn(new WorkflowExplorer(story), state)));
      }),
      { numRuns: 60 },
    );
  });

  test('an agent can end if and only if it does in some run of the interpreter', () => {
    fc.assert(
      fc.property(randomWorkflow, (story) => {
        const { flow, ends } = proofOf(story);
        const proved = STATES.map((state) => ends.ends[flow.numberOf(state)]);
        expect(proved).toStrictEqual(STATES.map((state) => canEnd(new WorkflowExplorer(story), state)));
      }),
      { numRuns: 60 },
    );
  });

  test('no run of the interpreter enters a state that was proved unreachable', () => {
    fc.assert(
      fc.property(randomWorkflow, (story) => {
        const { flow, reach } = proofOf(story);
        for (const state of visitedStates(new WorkflowExplorer(story)))
          expect([state, reach.has(flow.numberOf(state))]).toStrictEqual([state, true]);
      }),
      { numRuns: 60 },
    );
  });

  test('every example path can be followed', () => {
    fc.assert(
      fc.property(randomWorkflow, (story) => {
        const { flow, reach } = proofOf(story);
        for (const state of STATES) {
          const number = flow.numberOf(state);
          if (reach.has(number)) expect(new WorkflowExplorer(story).walk(reach.pathTo(number))).toBe(state);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('a reported cycle can be reached and repeated, and never be left', () => {
    fc.assert(
      fc.property(randomWorkflow, (story) => {
        for (const { path, round, kind } of proofOf(story).endless) {
          const [first] = round;
          expect(new WorkflowExplorer(story).walk([...path, ...round])).toBe(first?.from);
          if (kind !== 'generations') expect(canEnd(new WorkflowExplorer(story), first?.from ?? '')).toBe(false);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('a call that is reported as never returning never returns, though its agent may end', () => {
    fc.assert(
      fc.property(randomWorkflow, (story) => {
        const { flow, abandoned } = proofOf(story);
        for (const { callee, path } of abandoned) {
          const state = flow.names[callee] ?? '';
          expect(new WorkflowExplorer(story).walk(path)).toBe(state);
          expect([
            canReturn(new WorkflowExplorer(story), state),
            canEnd(new WorkflowExplorer(story), state),
          ]).toStrictEqual([false, true]);
        }
      }),
      { numRuns: 100 },
    );
  });

  test('a run whose agents all end was not proved endless', () => {
    fc.assert(
      fc.property(randomWorkflow, (story) => {
        const { flow, endless } = proofOf(story);
        const families = findTermination(flow, () => false);
        if (new WorkflowExplorer(story).allAgentsCanEnd()) {
          expect(families.ends[flow.entry ?? 0]).toBe(true);
        } else if (families.ends[flow.entry ?? 0] === false) {
          expect(endless).not.toStrictEqual([]);
        }
      }),
      { numRuns: 20 },
    );
  });
});
