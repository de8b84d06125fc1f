import { endlessFaults } from '../rings.ts';
import type { Rule, View } from '../rule.ts';

/** A loop that only `max_visits` stops: its agent never completes. */
export const endsOnlyByLimit: Rule = {
  id: 'ends-only-by-limit',
  level: 'warning',
  check: (view) =>
    endlessFaults(view, ({ kind, level, bounded }) => kind !== 'recursion' && level === 'bottom' && bounded, {
      what: 'only `max_visits` ends this loop, so that the run never completes',
      hint: 'Let one of these states say a <result> when its work is done.',
      level: (_, view) => (canEnd(view) ? 'info' : 'warning'),
    }),
};

/** Whether there are other ways through the workflow, that come to their end. */
const canEnd = ({ graph, proof }: View): boolean =>
  graph.entry !== null && proof.ends.ends[proof.flow.numberOf(graph.entry)] === true;
