import { isReported, rulePerState } from '../rule.ts';

/** A shell script does not say what it is written for. */
export const noShebang = rulePerState('no-shebang', 'info', (analysis, context) => {
  const { text } = analysis.source.state;
  if (!analysis.file.endsWith('.sh') || /^\uFEFF?#!/.test(text)) return [];
  // What stands before it is told already.
  if (isReported(context, analysis.file, 'key-without-effect')) return [];
  const message = 'the script has no `#!` line; Raymond runs it with /bin/bash';
  return [{ file: analysis.file, at: { line: 1, column: 1 }, message, hint: 'Begin it with `#!/bin/bash`.' }];
});
