import type { EnteredWorkflow } from '../../language/named-workflows.ts';
import { type AnswerProblem, answerProblem } from '../../language/problem.ts';
import type { ResolvedTag } from '../../language/tags/permitted-tags.ts';
import type { Tag } from '../../language/tags/tag.ts';
import { quoteAnswerTag } from '../../language/tags/tag-quotes.ts';
import type { LookedUp } from './looked-up.ts';

/** The workflow that a tag names, or why it cannot be entered. */
export function findWorkflow(tag: Tag, { workflows = {} }: LookedUp): EnteredWorkflow | AnswerProblem {
  const named = Object.hasOwn(workflows, tag.body) ? workflows[tag.body] : undefined;
  if (named !== undefined && !('problem' in named)) return named;
  const why = tag.body === '' ? 'the path of the workflow is empty' : (named?.problem ?? 'there is no such workflow');
  const kind = named?.isUnknown === true ? 'unknown_workflow' : 'bad_workflow';
  return answerProblem(kind, `${quoteAnswerTag(tag)}: ${why}`);
}

/** Warns of an input for a workflow that takes none. */
export const warnOfInput = ({ target: { workflow, input }, written }: ResolvedTag): readonly string[] =>
  workflow?.takesNoInput === true && input !== null
    ? [`${quoteAnswerTag(written)}: this workflow says that it takes no input (\`mode: none\`)`]
    : [];

/** Explains why a tag may not enter its workflow: for want of an input, or because too many are around it; undefined if it may. */
export function refuseWorkflow(
  { tag, target, written }: ResolvedTag,
  { nesting, maxDepth }: { readonly nesting: number; readonly maxDepth: number | null },
): AnswerProblem | undefined {
  const { workflow, input } = target;
  if (workflow === null) return undefined;
  if (workflow.requiredInput !== null && (input ?? '').trim() === '') {
    const what = workflow.requiredInput === '' ? '' : `: ${workflow.requiredInput}`;
    return answerProblem('missing_input', `${quoteAnswerTag(written)}: this workflow needs an \`input\`${what}`);
  }
  // Leaving for another workflow does not nest deeper.
  if (tag === 'reset-workflow' || maxDepth === null || nesting < maxDepth) return undefined;
  const around = `${nesting + 1} ${nesting === 0 ? 'workflow' : 'workflows'}`;
  const message = `${quoteAnswerTag(written)}: it would be nested in ${around}, and at most ${maxDepth} are allowed (\`max_depth\`)`;
  return answerProblem('too_deep', message);
}
