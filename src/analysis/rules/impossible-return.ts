import type { Ends } from '../ends.ts';
import { isExcused } from '../excused.ts';
import type { Flow } from '../flow.ts';
import { movesFrom, stepOf } from '../reach.ts';
import type { Fault, Rule } from '../rule.ts';
import { WHOLE } from '../sheet.ts';
import { sayPath } from '../words.ts';

/** A state could only be reached by a return that never happens. */
export const impossibleReturn: Rule = {
  id: 'impossible-return',
  level: 'warning',
  check(view) {
    const { graph, proof } = view;
    const { flow, ends, reach } = proof;
    const found = new Map<number, Fault>();
    const excused = proof.endless.filter((ring) => isExcused(ring, view)).flatMap(({ states }) => states);
    const waiting = waitingIn(flow, ends, excused);
    const callers = [...flow.names.keys()].filter((state) => reach.has(state));
    callers.sort((a, b) => reach.distance(a) - reach.distance(b));
    for (const caller of graph.entry === null ? [] : callers) {
      for (const move of movesFrom(flow, ends, caller)) {
        if (move.how !== 'enter' || move.exit.kind !== 'call' || ends.returns[move.to]) continue;
        const { back } = move.exit;
        const file = flow.names[back] ?? '';
        if (reach.has(back) || found.has(back) || back >= flow.any - 1 || waiting.has(move.to)) continue;
        const path = [...reach.pathTo(caller), stepOf(flow, caller, move)];
        const callee = flow.names[move.to];
        const message = `${file} waits for ${callee} to return, which never happens: ${sayPath(path, file)}`;
        found.set(back, { file, at: WHOLE, message, hint: `Give ${callee} a way to a <result>.`, path });
      }
    }
    return [...found.values()];
  },
};

/** The callees that do not return because of another that does not, or of what is told: then that is to be mended. */
function waitingIn(flow: Flow, ends: Ends, excused: readonly number[]): ReadonlySet<number> {
  const before = new Map<number, number[]>();
  const waiting = new Set(excused);
  for (const state of flow.names.keys()) {
    for (const { to, how } of movesFrom(flow, ends, state)) {
      if (how === 'enter' && !ends.returns[to]) waiting.add(state);
      if (how === 'enter' || how === 'worker') continue;
      const known = before.get(to);
      if (known === undefined) before.set(to, [state]);
      else known.push(state);
    }
  }
  for (const state of waiting) for (const earlier of before.get(state) ?? []) waiting.add(earlier);
  return waiting;
}
