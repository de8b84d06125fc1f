import { defineStateRule } from '../rule.ts';

/** A shell script has no `#!` line. */
export const noShebang = defineStateRule({ id: 'no-shebang', level: 'info' }, (analysis) => {
  const { text } = analysis.source.state;
  if (!analysis.file.endsWith('.sh') || /^\uFEFF?#!/.test(text)) return [];
  const message = 'the script has no `#!` line; Raymond runs it with /bin/bash';
  return [{ at: { line: 1, column: 1 }, message, hint: 'Begin it with `#!/bin/bash`.' }];
});
