import type { EndlessCycle } from '../../graph/endless-cycles.ts';
import type { PathStep } from '../../graph/reachability.ts';
import { WHOLE_FILE } from '../../language/text/text-position.ts';
import { namesOf } from '../cycle-findings.ts';
import { collapseAnyState, formatStepPath } from '../messages.ts';
import { defineRule, type RuleFinding } from '../rule.ts';

/** A call never returns, because its callee can never reach a `<result>`. */
export const neverReturns = defineRule({ id: 'never-returns', level: 'warning' }, (context) => [
  ...context.proof.endless.filter(isCalledCycle).flatMap((cycle) => {
    const { path, round } = cycle;
    const call = path.findLast(({ how }) => how === 'enter') ?? round.find(({ how }) => how === 'enter');
    if (call === undefined) return [];
    const why = 'no path from there leads to a <result>';
    return [{ ...diagnoseCall(call, [...path, ...round], why), causes: namesOf(cycle, context) }];
  }),
  ...context.proof.abandoned.flatMap(({ by, path }) => {
    const call = path.at(-1);
    const state = context.proof.flow.names[by] ?? '';
    if (call === undefined) return [];
    const hint =
      context.workflow.resetStack === 'clear'
        ? `Write stack="keep" on the <reset> of ${state}: without it, the return stack is cleared here.`
        : `Remove stack="clear" from the <reset> of ${state}, so that its callers get their result.`;
    return [{ ...diagnoseCall(call, path, `${state} clears the return stack`), hint, causes: [] }];
  }),
]);

/** Other cycles have rules of their own: those that are reached outside of any call, and those that call without bound. */
const isCalledCycle = ({ kind, level, bounded }: EndlessCycle): boolean =>
  kind === 'recursion' ? bounded : level === 'called' && (kind === 'loop' || bounded);

function diagnoseCall(call: PathStep, path: readonly PathStep[], why: string): RuleFinding {
  const message = `the <${call.tag ?? 'call'}> of ${call.to} never returns, because ${why}: ${formatStepPath(path, call.from)}`;
  const hint = `Make ${call.to} reach a <result>, or go there with <goto> or <reset> if nobody waits for it.`;
  return { file: call.from, at: call.at ?? WHOLE_FILE, message, hint, path: collapseAnyState(path) };
}
