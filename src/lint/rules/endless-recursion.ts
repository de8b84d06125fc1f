import { levelOfCycle, reportEndlessCycles } from '../cycle-findings.ts';
import { defineRule } from '../rule.ts';

/** Calls go deeper and deeper and none of them ever returns. */
export const endlessRecursion = defineRule({ id: 'endless-recursion', level: 'error' }, (context) =>
  reportEndlessCycles(context, ({ kind, bounded }) => kind === 'recursion' && !bounded, {
    what: 'these calls nest deeper and deeper, and none of them can return',
    hint: 'Make one of these states answer with a <result> without calling again.',
    level: levelOfCycle,
  }),
);
