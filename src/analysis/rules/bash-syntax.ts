import { rulePerPage } from '../rule.ts';
import { otherShebang } from './other-shebang.ts';
import { unquotedTag } from './unquoted-tag.ts';

/** Bash cannot make sense of a script. Other rules may say better why. */
export const bashSyntax = rulePerPage('bash-syntax', 'error', (page, view) => {
  const { fault } = page.source;
  if (fault == null) return [];
  const isExplained = [unquotedTag, otherShebang].some((rule) => rule.check({ ...view, pages: [page] }).length > 0);
  if (isExplained) return [];
  const message = `bash cannot read the script: ${fault.message}`;
  const hint = 'Look for a quote or a word such as `then`, `fi` or `done` that is missing here or further up.';
  return [{ file: page.file, at: fault.at, message, hint }];
});
