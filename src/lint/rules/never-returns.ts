import { WHOLE_FILE } from '../../core/text-position.ts';
import type { EndlessCycle } from '../../graph/endless-cycles.ts';
import type { PathStep } from '../../graph/reachability.ts';
import { collapseAnyState, formatStepPath } from '../messages.ts';
import type { Diagnostic, Rule, RuleContext } from '../rule.ts';
import { isCycleSuppressed } from '../suppression.ts';

/** A call whose callee can never come to a `<result>`. */
export const neverReturns: Rule = {
  id: 'never-returns',
  level: 'warning',
  check: (context) => [
    ...context.proof.endless
      .filter((cycle) => isCalledCycle(cycle) && !isCycleSuppressed(cycle, context))
      .flatMap(({ path, round }) => {
        const call = path.findLast(({ how }) => how === 'enter') ?? round.find(({ how }) => how === 'enter');
        return call === undefined
          ? []
          : [diagnoseCall(call, [...path, ...round], 'no way from there leads to a <result>')];
      }),
    ...context.proof.abandoned.flatMap(({ by, path }) => {
      const call = path.at(-1);
      return call === undefined
        ? []
        : [{ ...diagnoseCall(call, path, describeClearing(by, context)), hint: hintFor(by, context) }];
    }),
  ],
};

/** A ring at the bottom has rules of its own, and so has one that calls without bound. */
const isCalledCycle = ({ kind, level, bounded }: EndlessCycle): boolean =>
  kind === 'recursion' ? bounded : level === 'called' && (kind === 'loop' || bounded);

const describeClearing = (by: number, { proof }: RuleContext): string =>
  `${proof.flow.names[by]} clears the return stack`;

const hintFor = (by: number, { proof, workflow }: RuleContext): string =>
  workflow.resetStack === 'clear'
    ? `Write stack="keep" on the <reset> of ${proof.flow.names[by]}: without it, the return stack is cleared here.`
    : `Remove stack="clear" from the <reset> of ${proof.flow.names[by]}, so that its callers get their result.`;

function diagnoseCall(call: PathStep, path: readonly PathStep[], why: string): Diagnostic {
  const message = `the <${call.tag ?? 'call'}> of ${call.to} never returns, because ${why}: ${formatStepPath(path, call.from)}`;
  const hint = `Let ${call.to} come to a <result>, or go there with <goto> or <reset> if nobody waits for it.`;
  return { file: call.from, at: call.at ?? WHOLE_FILE, message, hint, path: collapseAnyState(path) };
}
