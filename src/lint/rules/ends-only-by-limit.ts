import { reportEndlessCycles } from '../cycle-findings.ts';
import { defineRule, type RuleContext } from '../rule.ts';

/** Only `max_visits` stops a loop, so that its agent never completes. */
export const endsOnlyByLimit = defineRule({ id: 'ends-only-by-limit', level: 'warning' }, (context) =>
  reportEndlessCycles(context, ({ kind, level, bounded }) => kind !== 'recursion' && level === 'bottom' && bounded, {
    what: 'only `max_visits` ends this loop, so the run never completes',
    hint: 'Make one of these states answer with a <result> when its work is done.',
    level: (_, context) => (canEnd(context) ? 'info' : 'warning'),
  }),
);

/** True if the workflow can end on another path. */
const canEnd = ({ graph, proof }: RuleContext): boolean =>
  graph.entry !== null && proof.ends.ends[proof.flow.numberOf(graph.entry)] === true;
