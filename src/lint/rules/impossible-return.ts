import { WHOLE_FILE } from '../../core/text-position.ts';
import type { Proof } from '../../graph/proof.ts';
import { findMoves, toPathStep } from '../../graph/reachability.ts';
import { namesOf } from '../cycle-findings.ts';
import { formatStepPath } from '../messages.ts';
import { defineRule, type RuleFinding } from '../rule.ts';

/** A state could only be reached by a return that never happens. */
export const impossibleReturn = defineRule({ id: 'impossible-return', level: 'warning' }, (context) => {
  const { flow, ends, reach, endless } = context.proof;
  if (context.graph.entry === null) return [];
  const all = [...flow.names.keys()];
  const stuck = all.filter((state) =>
    findMoves(flow, ends, state).some(({ how, to }) => how === 'enter' && !ends.returns[to]),
  );
  // A callee that waits for another callee forever is not the mistake.
  const waiting = spreadBack(context.proof, new Map(stuck.map((state) => [state, true])));
  const cycleNames = endless.map((cycle) => ({ states: cycle.states, names: namesOf(cycle, context) }));
  const causes = spreadBack(
    context.proof,
    new Map(cycleNames.flatMap(({ states, names }) => states.map((state) => [state, names]))),
  );
  const found = new Map<number, RuleFinding>();
  const callers = all.filter((state) => reach.has(state)).sort((a, b) => reach.distance(a) - reach.distance(b));
  for (const caller of callers) {
    for (const move of findMoves(flow, ends, caller)) {
      if (move.how !== 'enter' || move.exit.kind !== 'call' || ends.returns[move.to] || waiting.has(move.to)) continue;
      const { back } = move.exit;
      if (reach.has(back) || found.has(back) || back >= flow.any - 1) continue;
      const file = flow.names[back] ?? '';
      const callee = flow.names[move.to];
      const path = [...reach.pathTo(caller), toPathStep(flow, caller, move)];
      const message = `${file} waits for ${callee} to return, which never happens: ${formatStepPath(path, file)}`;
      const hint = `Give ${callee} a path to a <result>.`;
      found.set(back, { file, at: WHOLE_FILE, message, hint, path, causes: causes.get(move.to) ?? [] });
    }
  }
  return [...found.values()];
});

/** Hands the labels of states on to all states from which the same agent gets there without entering a call. */
function spreadBack<T>({ flow, ends }: Proof, labels: ReadonlyMap<number, T>): ReadonlyMap<number, T> {
  const predecessors = new Map<number, number[]>();
  for (const state of flow.names.keys()) {
    for (const { to, how } of findMoves(flow, ends, state)) {
      if (how === 'enter' || how === 'worker') continue;
      const known = predecessors.get(to);
      if (known === undefined) predecessors.set(to, [state]);
      else known.push(state);
    }
  }
  const spread = new Map(labels);
  for (const [state, label] of spread) {
    for (const predecessor of predecessors.get(state) ?? [])
      if (!spread.has(predecessor)) spread.set(predecessor, label);
  }
  return spread;
}
