import { findModelProblem } from '../../language/claude-values.ts';
import { findPreferences } from '../preferences.ts';
import { defineStateRule } from '../rule.ts';

/** A state asks for a model that Claude Code probably does not know. */
export const unknownModel = defineStateRule({ id: 'unknown-model', level: 'warning' }, (analysis) =>
  findPreferences(analysis, 'model').flatMap(({ value, at }) => {
    const problem = findModelProblem(value);
    return problem === undefined ? [] : [{ at, message: problem.message, hint: problem.hint }];
  }),
);
