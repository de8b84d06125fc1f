import { isTold, rulePerPage } from '../rule.ts';

/** A shell script does not say what it is written for. */
export const noShebang = rulePerPage('no-shebang', 'info', (page, view) => {
  const { text } = page.source.state;
  if (!page.file.endsWith('.sh') || /^\uFEFF?#!/.test(text)) return [];
  // What stands before it is told already.
  if (isTold(view, page.file, 'key-without-effect')) return [];
  const message = 'the script has no `#!` line; Raymond runs it with /bin/bash';
  return [{ file: page.file, at: { line: 1, column: 1 }, message, hint: 'Begin it with `#!/bin/bash`.' }];
});
