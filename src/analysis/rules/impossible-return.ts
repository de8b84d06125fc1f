import { movesFrom, stepOf } from '../reach.ts';
import type { Fault, Rule } from '../rule.ts';
import { WHOLE } from '../sheet.ts';
import { sayPath } from '../words.ts';

/** A state could only be reached by a return that never happens. */
export const impossibleReturn: Rule = {
  id: 'impossible-return',
  level: 'warning',
  check({ graph, proof }) {
    const { flow, ends, reach } = proof;
    const found = new Map<number, Fault>();
    const callers = [...flow.names.keys()].filter((state) => reach.has(state));
    callers.sort((a, b) => reach.distance(a) - reach.distance(b));
    for (const caller of graph.entry === null ? [] : callers) {
      for (const move of movesFrom(flow, ends, caller)) {
        if (move.how !== 'enter' || move.exit.kind !== 'call' || ends.returns[move.to]) continue;
        const { back } = move.exit;
        const file = flow.names[back] ?? '';
        if (reach.has(back) || found.has(back) || back >= flow.any - 1) continue;
        const path = [...reach.pathTo(caller), stepOf(flow, caller, move)];
        const callee = flow.names[move.to];
        const message = `${file} waits for ${callee} to return, which never happens: ${sayPath(path, file)}`;
        found.set(back, { file, at: WHOLE, message, hint: `Give ${callee} a way to a <result>.`, path });
      }
    }
    return [...found.values()];
  },
};
