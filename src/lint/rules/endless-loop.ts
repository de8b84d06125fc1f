import { reportEndlessCycles } from '../cycle-findings.ts';
import { defineRule } from '../rule.ts';

/** Nothing leads out of a loop. */
export const endlessLoop = defineRule({ id: 'endless-loop', level: 'warning' }, (context) =>
  reportEndlessCycles(context, ({ kind, level, bounded }) => kind === 'loop' && level === 'bottom' && !bounded, {
    what: 'this loop has no way out',
    hint: 'Make one of these states answer with a <result>, or lead to one that does. If the loop is intended, say so: `# lint: allow endless-loop`.',
    level: () => 'warning',
  }),
);
