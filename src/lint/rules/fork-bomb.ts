import { levelOfCycle, reportEndlessCycles } from '../cycle-findings.ts';
import { defineRule } from '../rule.ts';

/** Workers are forked without end. */
export const forkBomb = defineRule({ id: 'fork-bomb', level: 'error' }, (context) => [
  ...reportEndlessCycles(context, ({ kind, bounded }) => kind === 'forks' && !bounded, {
    what: 'this loop forks workers and has no way out',
    hint: 'Make it reach a <result> when everything is forked, or set `max_visits` on one of its prompts.',
    level: levelOfCycle,
  }),
  ...reportEndlessCycles(context, ({ kind }) => kind === 'generations', {
    what: 'a worker cannot end without forking one like itself',
    hint: 'Give it a path to its <result> that forks nothing; `max_visits` does not help, because each worker counts for itself.',
    level: levelOfCycle,
  }),
]);
