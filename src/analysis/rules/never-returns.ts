import type { Endless } from '../endless.ts';
import { isExcused } from '../excused.ts';
import type { Step } from '../reach.ts';
import type { Fault, Rule, View } from '../rule.ts';
import { WHOLE } from '../sheet.ts';
import { sayPath, withoutAny } from '../words.ts';

/** A call whose callee can never come to a `<result>`. */
export const neverReturns: Rule = {
  id: 'never-returns',
  level: 'warning',
  check: (view) => [
    ...view.proof.endless
      .filter((ring) => isCall(ring) && !isExcused(ring, view))
      .flatMap(({ path, round }) => {
        const call = path.findLast(({ how }) => how === 'enter') ?? round.find(({ how }) => how === 'enter');
        return call === undefined ? [] : [faultOf(call, [...path, ...round], 'no way from there leads to a <result>')];
      }),
    ...view.proof.abandoned.flatMap(({ by, path }) => {
      const call = path.at(-1);
      return call === undefined ? [] : [{ ...faultOf(call, path, clearedBy(by, view)), hint: hintFor(by, view) }];
    }),
  ],
};

/** A ring at the bottom has rules of its own, and so has one that calls without bound. */
const isCall = ({ kind, level, bounded }: Endless): boolean =>
  kind === 'recursion' ? bounded : level === 'called' && (kind === 'loop' || bounded);

const clearedBy = (by: number, { proof }: View): string => `${proof.flow.names[by]} clears the return stack`;

const hintFor = (by: number, { proof, sheet }: View): string =>
  sheet.resetStack === 'clear'
    ? `Write stack="keep" on the <reset> of ${proof.flow.names[by]}: without it, the return stack is cleared here.`
    : `Remove stack="clear" from the <reset> of ${proof.flow.names[by]}, so that its callers get their result.`;

function faultOf(call: Step, path: readonly Step[], why: string): Fault {
  const message = `the <${call.tag ?? 'call'}> of ${call.to} never returns, because ${why}: ${sayPath(path, call.from)}`;
  const hint = `Let ${call.to} come to a <result>, or go there with <goto> or <reset> if nobody waits for it.`;
  return { file: call.from, at: call.at ?? WHOLE, message, hint, path: withoutAny(path) };
}
