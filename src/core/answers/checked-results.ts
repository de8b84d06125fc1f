import { type AnswerProblem, answerProblem } from '../../language/problem.ts';
import type { ResolvedTag } from '../../language/tags/permitted-tags.ts';
import type { Agent } from '../run/agent.ts';

/** The verdict on a `<result>`: the text to hand on, or why it does not fit its schema, or cannot be checked. */
export type CheckedResult = { readonly text: string } | { readonly problem: string; readonly cannotCheck?: true };

/** For each text of a `<result>` in an answer, whether it fits the schema of its state. */
export type CheckedResults = Readonly<Record<string, CheckedResult>>;

/** A turn's duties about result schemas. */
export interface TurnResultCheck {
  /** True if its results must fit the schema of the state. */
  readonly checksResult?: boolean;
  /** The state whose checked result is the `input`, if there is one. */
  readonly resultOf?: string;
}

/** The duties of an agent's next turn about result schemas. */
export const resultCheckOf = ({ rules, input }: Pick<Agent, 'rules' | 'input'>): TurnResultCheck => ({
  ...(rules?.checksResult === true && { checksResult: true }),
  ...(typeof input === 'object' && input !== null && { resultOf: input.resultOf }),
});

/** Applies the verdicts to a tag; in a state without a schema there are none. With a schema, no text is handed on unchecked. */
export function applyResultCheck(
  resolved: ResolvedTag,
  results: CheckedResults | undefined,
): ResolvedTag | AnswerProblem {
  if (results === undefined || resolved.tag !== 'result') return resolved;
  const { body } = resolved.target;
  const verdict = Object.hasOwn(results, body) ? results[body] : undefined;
  if (verdict === undefined || ('problem' in verdict && verdict.cannotCheck === true))
    return answerProblem('unchecked_result', `its <result> cannot be checked: ${verdict?.problem ?? 'nobody did'}`);
  if ('problem' in verdict)
    return answerProblem('bad_result', `its <result> does not fit \`result_schema\`: ${verdict.problem}`);
  return { ...resolved, target: { ...resolved.target, body: verdict.text } };
}
