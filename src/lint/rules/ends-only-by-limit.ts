import { reportEndlessCycles } from '../cycle-diagnostics.ts';
import { defineRule, type RuleContext } from '../rule.ts';

/** A loop that only `max_visits` stops: its agent never completes. */
export const endsOnlyByLimit = defineRule({ id: 'ends-only-by-limit', level: 'warning' }, (context) =>
  reportEndlessCycles(context, ({ kind, level, bounded }) => kind !== 'recursion' && level === 'bottom' && bounded, {
    what: 'only `max_visits` ends this loop, so the run never completes',
    hint: 'Make one of these states answer with a <result> when its work is done.',
    level: (_, context) => (canEnd(context) ? 'info' : 'warning'),
  }),
);

/** Whether there are other ways through the workflow, that come to their end. */
const canEnd = ({ graph, proof }: RuleContext): boolean =>
  graph.entry !== null && proof.ends.ends[proof.flow.numberOf(graph.entry)] === true;
