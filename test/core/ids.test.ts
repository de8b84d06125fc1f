import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { newRunId, nextWorkerId, runIdProblem } from '../../src/core/ids.ts';

/** Forks workers the way a run does: one counter per parent, and no id that any agent has. */
function forkAll(forks: readonly (readonly [parent: string, state: string])[]): readonly string[] {
  const counters = new Map<string, number>();
  const ids = ['main'];
  for (const [parent, state] of forks) {
    const { id, forks: count } = nextWorkerId(parent, counters.get(parent) ?? 0, state, (each) => ids.includes(each));
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
    ['a dotted one without its dots', 'v1.2.md', 'main_v1-21'],
    ['blanks and signs made safe for a file name', 'a b:*?.md', 'main_a-b---1'],
    ['letters of any alphabet', 'ПРОВЕРКА.md', 'main_провер1'],
    ['no half characters', '😀x.md', 'main_-x1'],
  ])('holds the name of its state: %s', (_, state, id) => {
    expect(nextWorkerId('main', 0, state, () => false).id).toBe(id);
  });

  test('is not given twice when W1 and W meet at the counters 2 and 12', () => {
    const states = ['X', 'W1', ...Array<string>(9).fill('X'), 'W'];
    const ids = forkAll(states.map((state) => ['main', `${state}.md`]));
    expect(ids.at(1)).toBe('main_w12');
    expect(ids.at(-1)).toBe('main_w13');
  });

  test('moves the counter past an id that is taken', () => {
    expect(nextWorkerId('main', 11, 'W.md', (id) => id === 'main_w12')).toStrictEqual({ id: 'main_w13', forks: 13 });
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
          const { id, forks } = nextWorkerId(parent, before, name, (each) => ids.includes(each));
          expect(forks).toBeGreaterThan(before);
          counters.set(parent, forks);
          ids.push(id);
        }
        expect(new Set(ids).size).toBe(ids.length);
      }),
    );
  });
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
