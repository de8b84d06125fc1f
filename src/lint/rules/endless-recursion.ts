import { levelOfCycle, reportEndlessCycles } from '../cycle-diagnostics.ts';
import { defineRule } from '../rule.ts';

/** Calls go deeper and deeper and none of them ever returns. */
export const endlessRecursion = defineRule({ id: 'endless-recursion', level: 'error' }, (context) =>
  reportEndlessCycles(context, ({ kind, bounded }) => kind === 'recursion' && !bounded, {
    what: 'calls go deeper and deeper here and none of them can return',
    hint: 'Let one of these states say a <result> without calling again.',
    level: levelOfCycle,
  }),
);
