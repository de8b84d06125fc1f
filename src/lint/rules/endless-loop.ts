import { reportEndlessCycles } from '../cycle-diagnostics.ts';
import { defineRule } from '../rule.ts';

/** A loop that nothing leads out of. */
export const endlessLoop = defineRule({ id: 'endless-loop', level: 'warning' }, (context) =>
  reportEndlessCycles(context, ({ kind, level, bounded }) => kind === 'loop' && level === 'bottom' && !bounded, {
    what: 'this loop has no way out',
    hint: 'Let one of these states say a <result>, or go on to one that does; if it is meant, say so: `# lint: allow endless-loop`.',
    level: () => 'warning',
  }),
);
