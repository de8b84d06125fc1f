import type { Rule } from '../rule.ts';
import { WHOLE } from '../sheet.ts';

/** Nothing leads to a state. */
export const unreachableState: Rule = {
  id: 'unreachable-state',
  level: 'warning',
  check({ sheet, graph, proof }) {
    if (graph.entry === null) return [];
    return graph.nodes.flatMap(({ state, kind }) => {
      if (kind === 'missing' || proof.mentioned.has(proof.flow.numberOf(state))) return [];
      const message = `nothing leads to ${state} from ${graph.entry}`;
      const hint = 'Name it in a tag or policy of a state that is reached, or remove it.';
      return [{ file: state, at: WHOLE, message, hint, level: sheet.entryGiven ? 'info' : 'warning' }];
    });
  },
};
