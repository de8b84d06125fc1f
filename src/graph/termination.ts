import type { ControlFlow } from './control-flow.ts';

/** Facts about how agents can end, by number of the state. */
export interface TerminationFacts {
  /** True if the state can lead to a `<result>` with the return stack as it was, so that a call of it can return. */
  readonly returns: readonly boolean[];
  /** True if an agent can end from here, if need be by clearing the return stack. */
  readonly ends: readonly boolean[];
}

/**
 * Computes the summaries of the pushdown system as the least model of Horn clauses, in time linear in the number of
 * transitions.
 *
 * With `isIgnoredWorker`, an end counts only if the workers forked on the way can end as well, except ignored ones.
 */
export function findTermination(flow: ControlFlow, isIgnoredWorker?: (worker: number) => boolean): TerminationFacts {
  const facts = new HornClauses(3 * flow.names.length);
  const returns = (state: number): number => 3 * state;
  const clears = (state: number): number => 3 * state + 1;
  const ends = (state: number): number => 3 * state + 2;
  for (const [state, exits] of flow.exits.entries()) {
    facts.add(ends(state), [returns(state)]);
    facts.add(ends(state), [clears(state)]);
    for (const exit of exits) {
      switch (exit.kind) {
        case 'result':
          facts.add(returns(state), []);
          break;
        case 'step':
          if (exit.clearsStack) facts.add(clears(state), [ends(exit.to)]);
          else {
            facts.add(returns(state), [returns(exit.to)]);
            facts.add(clears(state), [clears(exit.to)]);
          }
          break;
        case 'call':
          facts.add(returns(state), [returns(exit.to), returns(exit.back)]);
          facts.add(clears(state), [clears(exit.to)]);
          facts.add(clears(state), [returns(exit.to), clears(exit.back)]);
          break;
        case 'fork': {
          const worker = isIgnoredWorker === undefined || isIgnoredWorker(exit.to) ? [] : [ends(exit.to)];
          facts.add(returns(state), [returns(exit.next), ...worker]);
          facts.add(clears(state), [clears(exit.next), ...worker]);
          break;
        }
        default:
          exit satisfies never;
      }
    }
  }
  const known = facts.solve();
  const read = (fact: (state: number) => number) => flow.names.map((_, state) => known[fact(state)] === 1);
  return { returns: read(returns), ends: read(ends) };
}

/** Clauses of the form: the head is true if all conditions are. */
class HornClauses {
  private readonly heads: number[] = [];
  private readonly missing: number[] = [];
  /** For each fact, the clauses that wait for it. */
  private readonly waiting: number[][];
  private readonly known: Uint8Array;
  private readonly pending: number[] = [];

  constructor(size: number) {
    this.known = new Uint8Array(size);
    this.waiting = Array.from({ length: size }, () => []);
  }

  add(head: number, conditions: readonly number[]): void {
    for (const condition of conditions) this.waiting[condition]?.push(this.heads.length);
    this.heads.push(head);
    this.missing.push(conditions.length);
    if (conditions.length === 0) this.learn(head);
  }

  solve(): Uint8Array {
    for (let fact = this.pending.pop(); fact !== undefined; fact = this.pending.pop()) {
      for (const clause of this.waiting[fact] ?? []) {
        const left = (this.missing[clause] ?? 0) - 1;
        this.missing[clause] = left;
        if (left === 0) this.learn(this.heads[clause] ?? 0);
      }
    }
    return this.known;
  }

  private learn(fact: number): void {
    if (this.known[fact] === 1) return;
    this.known[fact] = 1;
    this.pending.push(fact);
  }
}
