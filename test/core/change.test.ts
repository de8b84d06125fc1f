import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChange, type Change, changeOf } from '../../src/core/run/change.ts';
import type { Run } from '../../src/core/run/run.ts';
import { step } from '../../src/core/step.ts';
import { randomHistory } from '../storage/run-history.ts';
import { RunDriver } from './run-driver.ts';

const throughDisk = (change: Change): Change => JSON.parse(JSON.stringify(change));

test('a change converts the run before a step to the run after it, also after serialization', () => {
  fc.assert(
    fc.property(randomHistory(), ({ steps }) => {
      for (const { before, step } of steps) {
        const untouched = structuredClone(before);
        expect(applyChange(before, throughDisk(changeOf(before, step)))).toStrictEqual(step.run);
        expect(before).toStrictEqual(untouched);
      }
    }),
    { numRuns: 200 },
  );
});

test('a change out of order is not applied', () => {
  fc.assert(
    fc.property(randomHistory(10), ({ run, steps }) => {
      const [first] = steps;
      if (first === undefined) return;
      const change = changeOf(first.before, first.step);
      expect(() => applyChange(first.step.run, change)).toThrow(`step ${run.seq + 2} should be here`);
    }),
  );
});

describe('the size of a change does not grow', () => {
  /** The longest line of one more round through two states. */
  function sizeOfNextTurn(run: Run): number {
    const scope = { files: ['START.md', 'A.md'], platform: 'unix' } as const;
    const began = step(run, { kind: 'began', at: 1, agent: 'main', sessionId: 's', rules: null, warnings: [] });
    const answered = step(began.run, {
      kind: 'answered',
      at: 2,
      agent: 'main',
      text: '<reset>A</reset>',
      cost: { kind: 'reported', micros: 5 },
      denials: [],
      folders: {},
      scope,
    });
    return Math.max(JSON.stringify(changeOf(run, began)).length, JSON.stringify(changeOf(began.run, answered)).length);
  }

  const few = new RunDriver({ files: ['START.md', 'A.md'] }).run;
  const main = few.agents[0];
  const small = sizeOfNextTurn(few);

  test('with the number of agents', () => {
    const workers = Array.from(
      { length: 1000 },
      (_, index) => ({ ...main, id: `main_a${index}` }) as (typeof few.agents)[0],
    );
    expect(sizeOfNextTurn({ ...few, agents: [...few.agents, ...workers] } as Run)).toBe(small);
  });

  test('with the number of states that were visited and paid for', () => {
    const names = Array.from({ length: 1000 }, (_, index) => `STATE${index}.md`);
    const visits = Object.fromEntries(names.map((name) => [name, 1]));
    const states = Object.fromEntries(names.map((name) => [name, { turns: 1, micros: 1 }]));
    const seen = { ...few, ledger: { ...few.ledger, states }, agents: [{ ...main, visits }] } as Run;
    expect(sizeOfNextTurn(seen)).toBe(small);
  });
});
