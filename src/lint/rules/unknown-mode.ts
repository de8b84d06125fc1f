import { findPermissionModeProblem } from '../../language/claude-values.ts';
import { WHOLE_FILE } from '../../language/text/text-position.ts';
import { defineStateRule } from '../rule.ts';

/** A state asks for a permission mode that Claude Code does not know. */
export const unknownMode = defineStateRule({ id: 'unknown-mode', level: 'warning' }, ({ source }) => {
  const { permissionMode: mode } = source.state;
  const problem = mode === null ? undefined : findPermissionModeProblem(mode);
  if (problem === undefined) return [];
  return [{ at: source.keys.permission_mode ?? WHOLE_FILE, message: problem.message, hint: problem.hint }];
});
