import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWorkerIdSpent, newRunId, nextWorkerId, runIdProblem } from '../../src/core/run/ids.ts';

const idOptions = (isTaken: (id: string) => boolean) => ({ isTaken, isUnambiguous: false });

/** Forks workers the way a run does: one counter per parent, and no id that any agent has. */
function forkAll(forks: readonly (readonly [parent: string, state: string])[]): readonly string[] {
  const counters = new Map<string, number>();
  const ids = ['main'];
  for (const [parent, state] of forks) {
    const { id, forks: count } = nextWorkerId(
      parent,
      counters.get(parent) ?? 0,
      state,
      idOptions((each) => ids.includes(each)),
    );
    counters.set(parent, count);
    ids.push(id);
  }
  return ids.slice(1);
}

describe("a worker's id", () => {
  test('counts the workers of its parent in all states', () => {
    const forks = ['WORKER.md', 'WORKER.md', 'ANALYZE.sh'].map((state) => ['main', state] as const);
    expect(forkAll(forks)).toStrictEqual(['main_worker1', 'main_worker2', 'main_analyz3']);
  });

  test('starts with the id of its parent, which counts for itself', () => {
    expect(
      forkAll([
        ['main', 'WORKER.md'],
        ['main_worker1', 'ANALYZE.md'],
        ['main_worker1_analyz1', 'X.md'],
        ['main', 'WORKER.md'],
      ]),
    ).toStrictEqual(['main_worker1', 'main_worker1_analyz1', 'main_worker1_analyz1_x1', 'main_worker2']);
  });

  test.each([
    ['its first six letters in lower case', 'IMPLEMENTATION.md', 'main_implem1'],
    ['all of a short one', 'GO.ps1', 'main_go1'],
    ['a dotted one without its dots', 'v1.2.md', 'main_v1_21'],
    ['blanks and signs as underscores', 'a b:*?.md', 'main_a_b___1'],
    ['letters beyond ASCII as underscores', 'ПРОВЕРКА.md', 'main_______1'],
    ['no half characters', '😀x.md', 'main__x1'],
  ])('holds the name of its state: %s', (_, state, id) => {
    expect(
      nextWorkerId(
        'main',
        0,
        state,
        idOptions(() => false),
      ).id,
    ).toBe(id);
  });

  test('is not given twice when W1 and W meet at the counters 2 and 12', () => {
    const states = ['X', 'W1', ...Array<string>(9).fill('X'), 'W'];
    const ids = forkAll(states.map((state) => ['main', `${state}.md`]));
    expect(ids.at(1)).toBe('main_w12');
    expect(ids.at(-1)).toBe('main_w13');
  });

  test('moves the counter past an id that is taken', () => {
    expect(
      nextWorkerId(
        'main',
        11,
        'W.md',
        idOptions((id) => id === 'main_w12'),
      ),
    ).toStrictEqual({ id: 'main_w13', forks: 13 });
  });

  test('is not given twice when a state is named like a worker of another parent', () => {
    const ids = forkAll([
      ['main', 'A.md'],
      ['main_a1', 'B.md'],
      ['main_a1', 'B.md'],
      ['main', 'A1_B.md'],
    ]);
    expect(ids).toStrictEqual(['main_a1', 'main_a1_b1', 'main_a1_b2', 'main_a1_b3']);
  });

  test('never repeats, for any sequence of forks', () => {
    const state = fc.oneof(
      fc.constantFrom('W.md', 'W1.md', 'W11.md', 'w.sh', 'A_W.md', 'W1_W.md', '1.md', '_.md', 'Ä.md', '.md'),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(), state), { maxLength: 60 }), (choices) => {
        const ids = ['main'];
        const counters = new Map<string, number>();
        for (const [nth, name] of choices) {
          const parent = ids[nth % ids.length] ?? 'main';
          const before = counters.get(parent) ?? 0;
          const { id, forks } = nextWorkerId(
            parent,
            before,
            name,
            idOptions((each) => ids.includes(each)),
          );
          expect(forks).toBeGreaterThan(before);
          counters.set(parent, forks);
          ids.push(id);
        }
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
});

describe('an id that tells where its parts begin', () => {
  const unambiguous = { isTaken: () => false, isUnambiguous: true };

  test.each([
    ['WORKER.md', 'main_worker8'],
    ['STEP1.md', 'main_step1x8'],
    ['A1_B.md', 'main_a1xb8'],
    ['STEP1_B.md', 'main_step1x8'],
    ['A_B.md', 'main_a_b8'],
  ])('is the usual one unless the name of the state has digits: %s', (state, id) => {
    expect(nextWorkerId('main', 7, state, unambiguous)).toStrictEqual({ id, forks: 8 });
  });

  test.each([
    ['a plain one', 'main_worker3', 'main', 3, true],
    ['one whose state ends in a digit, while the count may come', 'main_step13', 'main', 12, false],
    ['the same when it is past', 'main_step13', 'main', 13, true],
    ['the same when the parent forks no more', 'main_step13', 'main', null, true],
    ['one that a worker may give, too', 'main_a1_b1', 'main', 5, false],
    ['the one of that worker', 'main_a1_b1', 'main_a1', 1, true],
    ['one that does not begin with its parent', 'worker3', 'main', 3, false],
  ])('makes it safe to forget %s', (_, id, parent, forks, isSpent) => {
    expect(isWorkerIdSpent(id, parent, forks)).toBe(isSpent);
  });

  interface TestAgent {
    readonly parent: string;
    readonly forks: number;
    readonly hasEnded: boolean;
  }

  /** What happens to one of the agents: it forks workers in this state, or ends. */
  const deed = fc.record({
    nth: fc.nat(3),
    state: fc.option(fc.constantFrom('W', 'W', 'W1', 'W1_W', 'W1_W', '1', 'W1-', ''), { freq: 4 }),
    repeat: fc.constantFrom(1, 1, 9, 10),
  });

  test('never repeats, though agents are forgotten', () => {
    fc.assert(
      fc.property(fc.array(deed, { maxLength: 8 }), fc.array(deed, { maxLength: 12 }), (plain, later) => {
        const agents = new Map<string, TestAgent>([['main', { parent: '', forks: 0, hasEnded: false }]]);
        const given = new Set(agents.keys());
        for (const [index, { nth, state, repeat }] of [...plain, ...later].entries()) {
          const isUnambiguous = index >= plain.length;
          const living = [...agents].filter(([, agent]) => !agent.hasEnded);
          let [id, agent] = living[nth % living.length] as [string, TestAgent];
          if (state === null && id !== 'main') agents.set(id, { ...agent, hasEnded: true });
          for (let count = 0; state !== null && count < repeat; count++) {
            const isTaken = (each: string): boolean => agents.has(each);
            const next = nextWorkerId(id, agent.forks, `${state}.md`, { isTaken, isUnambiguous });
            if (given.has(next.id)) throw new Error(`${next.id} is given twice`);
            given.add(next.id);
            agent = { ...agent, forks: next.forks };
            agents.set(id, agent);
            // Only the first of several lives on, so that those few fork more.
            agents.set(next.id, { parent: id, forks: 0, hasEnded: count > 0 });
          }
          if (isUnambiguous) forgetSpent(agents);
        }
      }),
      { numRuns: 2000 },
    );
  });

  function forgetSpent(agents: Map<string, TestAgent>): void {
    for (const [id, { parent, hasEnded }] of agents) {
      const above = agents.get(parent);
      const parentForks = above === undefined || above.hasEnded ? null : above.forks;
      if (hasEnded && isWorkerIdSpent(id, parent, parentForks)) agents.delete(id);
    }
  }
});

describe("a run's id", () => {
  const AT = Date.UTC(2025, 0, 2, 3, 4, 5, 678);

  test.each([
    ['the name, the time and four digits', 'review', 0, 'review-20250102-030405-beef'],
    ['the time the user sees', 'review', -300, 'review-20250101-220405-beef'],
    ['a name made safe', 'Mein Ablauf (neu).v2', 0, 'Mein-Ablauf-neu-v2-20250102-030405-beef'],
    ['a word, where no letter of the name is left', '工作', 0, 'run-20250102-030405-beef'],
    ['a long name cut short', 'x'.repeat(300), 0, `${'x'.repeat(100)}-20250102-030405-beef`],
  ])('is made of %s', (_, workflow, offset, id) => {
    expect(newRunId(workflow, AT, offset, 'beef')).toBe(id);
  });

  test('is always one that may be used', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.integer({ min: -720, max: 840 }),
        (name, offset) => {
          expect(runIdProblem(newRunId(name, AT, offset, '0a1f'))).toBeUndefined();
        },
      ),
    );
  });

  test.each(['a', 'A-b_9', 'x'.repeat(128)])('may be %s', (id) => {
    expect(runIdProblem(id)).toBeUndefined();
  });

  test.each(['', 'a b', 'a/b', '..', 'é', 'a\n', 'x'.repeat(129)])('may not be %j', (id) => {
    expect(runIdProblem(id)).toBe(
      `\`${id}\` cannot be a run's id: use 1 to 128 of the letters A-Z and a-z, digits, \`_\` and \`-\``,
    );
  });
});
