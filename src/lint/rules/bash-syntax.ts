import { rulePerState } from '../rule.ts';
import { otherShebang } from './other-shebang.ts';
import { unquotedTag } from './unquoted-tag.ts';

/** Bash cannot make sense of a script. Other rules may say better why. */
export const bashSyntax = rulePerState('bash-syntax', 'error', (analysis, context) => {
  const { syntaxError: diagnostic } = analysis.source;
  if (diagnostic == null) return [];
  const isExplained = [unquotedTag, otherShebang].some(
    (rule) => rule.check({ ...context, analyses: [analysis] }).length > 0,
  );
  if (isExplained) return [];
  const message = `bash cannot read the script: ${diagnostic.message}`;
  const hint = 'Look for a quote or a word such as `then`, `fi` or `done` that is missing here or further up.';
  return [{ file: analysis.file, at: diagnostic.at, message, hint }];
});
