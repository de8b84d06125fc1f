import { defineStateRule } from '../rule.ts';

/** A shell script has no `#!` line. */
export const noShebang = defineStateRule({ id: 'no-shebang', level: 'info' }, (analysis) => {
  const { origin, state } = analysis.source;
  // In a one-file workflow the key says what the script is for.
  if (origin !== undefined || !analysis.file.endsWith('.sh') || /^\uFEFF?#!/.test(state.text)) return [];
  const message = 'the script has no `#!` line; Raymond runs it with /bin/bash';
  return [{ at: analysis.positionAt(0), message, hint: 'Begin it with `#!/bin/bash`.' }];
});
