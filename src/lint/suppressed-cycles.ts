import type { EndlessCycle } from '../graph/endless-cycles.ts';
import { isReported, type RuleContext } from './rule.ts';

/** Mistakes by which a way out of a ring may have been lost. */
const EXIT_HIDING_RULES = ['unknown-tag', 'unclosed-tag', 'missing-state', 'forbidden-tag', 'silent-path'];

/** Whether a ring has a way out as soon as a mistake is mended that is told already. */
export function isCycleSuppressed({ states }: EndlessCycle, context: RuleContext): boolean {
  return states.some((state) => isReported(context, context.proof.flow.names[state] ?? '', ...EXIT_HIDING_RULES));
}
