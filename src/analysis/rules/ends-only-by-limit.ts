import { endlessFaults } from '../rings.ts';
import type { Rule } from '../rule.ts';

/** A loop that only `max_visits` stops: its agent never completes. */
export const endsOnlyByLimit: Rule = {
  id: 'ends-only-by-limit',
  level: 'info',
  check: (view) =>
    endlessFaults(view, ({ kind, level, bounded }) => kind !== 'recursion' && level === 'bottom' && bounded, {
      what: 'only `max_visits` ends this loop, so that the run never completes',
      hint: 'Let one of these states say a <result> when its work is done.',
      level: () => 'info',
    }),
};
