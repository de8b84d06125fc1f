import { didYouMean } from '../../core/nearest.ts';
import { WHOLE_FILE } from '../../core/text-position.ts';
import { defineStateRule } from '../rule.ts';

const MODES = ['acceptEdits', 'plan', 'dontAsk', 'auto', 'default', 'manual', 'bypassPermissions'];

/** A state asks for a permission mode that Claude Code does not know. */
export const unknownMode = defineStateRule({ id: 'unknown-mode', level: 'warning' }, ({ source }) => {
  const { permissionMode: mode } = source.state;
  if (mode === null || MODES.includes(mode)) return [];
  const message = `the permission mode \`${mode}\` is unknown${didYouMean(mode, MODES)}`;
  const hint = `Write ${MODES.slice(0, -1).join(', ')} or ${MODES.at(-1)}.`;
  return [{ at: source.keys.permission_mode ?? WHOLE_FILE, message, hint }];
});
