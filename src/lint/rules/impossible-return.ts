import { WHOLE_FILE } from '../../core/text-position.ts';
import type { ControlFlow } from '../../graph/control-flow.ts';
import { findMoves, toPathStep } from '../../graph/reachability.ts';
import type { TerminationFacts } from '../../graph/termination.ts';
import { formatStepPath } from '../messages.ts';
import type { Diagnostic, Rule } from '../rule.ts';
import { isCycleSuppressed } from '../suppression.ts';

/** A state could only be reached by a return that never happens. */
export const impossibleReturn: Rule = {
  id: 'impossible-return',
  level: 'warning',
  check(context) {
    const { graph, proof } = context;
    const { flow, ends, reach } = proof;
    const diagnostics = new Map<number, Diagnostic>();
    const suppressed = proof.endless
      .filter((cycle) => isCycleSuppressed(cycle, context))
      .flatMap(({ states }) => states);
    const blocked = findBlockedCallees(flow, ends, suppressed);
    const callers = [...flow.names.keys()].filter((state) => reach.has(state));
    callers.sort((a, b) => reach.distance(a) - reach.distance(b));
    for (const caller of graph.entry === null ? [] : callers) {
      for (const move of findMoves(flow, ends, caller)) {
        if (move.how !== 'enter' || move.exit.kind !== 'call' || ends.returns[move.to]) continue;
        const { back: returnState } = move.exit;
        const file = flow.names[returnState] ?? '';
        if (
          reach.has(returnState) ||
          diagnostics.has(returnState) ||
          returnState >= flow.any - 1 ||
          blocked.has(move.to)
        )
          continue;
        const path = [...reach.pathTo(caller), toPathStep(flow, caller, move)];
        const callee = flow.names[move.to];
        const message = `${file} waits for ${callee} to return, which never happens: ${formatStepPath(path, file)}`;
        diagnostics.set(returnState, {
          file,
          at: WHOLE_FILE,
          message,
          hint: `Give ${callee} a way to a <result>.`,
          path,
        });
      }
    }
    return [...diagnostics.values()];
  },
};

/** The callees that do not return because of another that does not, or of what is told: then that is to be mended. */
function findBlockedCallees(
  flow: ControlFlow,
  ends: TerminationFacts,
  suppressed: readonly number[],
): ReadonlySet<number> {
  const predecessors = new Map<number, number[]>();
  const blocked = new Set(suppressed);
  for (const state of flow.names.keys()) {
    for (const { to, how } of findMoves(flow, ends, state)) {
      if (how === 'enter' && !ends.returns[to]) blocked.add(state);
      if (how === 'enter' || how === 'worker') continue;
      const known = predecessors.get(to);
      if (known === undefined) predecessors.set(to, [state]);
      else known.push(state);
    }
  }
  for (const state of blocked) for (const predecessor of predecessors.get(state) ?? []) blocked.add(predecessor);
  return blocked;
}
