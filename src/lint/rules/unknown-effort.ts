import { findEffortProblem } from '../../language/claude-values.ts';
import { findPreferences } from '../preferences.ts';
import { defineStateRule } from '../rule.ts';

/** A state asks for an effort that Claude Code does not know. */
export const unknownEffort = defineStateRule({ id: 'unknown-effort', level: 'warning' }, (analysis) =>
  findPreferences(analysis, 'effort').flatMap(({ value, at }) => {
    const problem = findEffortProblem(value);
    return problem === undefined ? [] : [{ at, message: problem.message, hint: problem.hint }];
  }),
);
