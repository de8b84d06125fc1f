import { findEvaluatorProblems } from '../../graph/evaluator-problems.ts';
import { sourceScope } from '../../graph/workflow-source.ts';
import { workflowNameOf } from '../../language/named-workflows.ts';
import { defineRule } from '../rule.ts';

/** An evaluator cannot do what it says; Raymond refuses to run the workflow. */
export const badEvaluator = defineRule(
  { id: 'bad-evaluator', level: 'error', blocksStart: 'always', supersedes: ['unreachable-state'] },
  ({ workflow, analyses }) =>
    analyses.flatMap(({ file, source }) =>
      findEvaluatorProblems(source, sourceScope(workflow, workflowNameOf(file))).map(({ at, message }) => {
        return { file, at, message, hint: 'Correct it: the workflow cannot start until then.' };
      }),
    ),
);
