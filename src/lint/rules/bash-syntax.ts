import { defineStateRule } from '../rule.ts';

/** Bash cannot read a script. */
export const bashSyntax = defineStateRule(
  { id: 'bash-syntax', level: 'error', supersedes: ['unreachable-state'] },
  ({ source }) => {
    if (source.syntaxError == null) return [];
    const message = `bash cannot read the script: ${source.syntaxError.message}`;
    const hint = 'Look for a quote or a word such as `then`, `fi` or `done` that is missing here or further up.';
    return [{ at: source.syntaxError.at, message, hint }];
  },
);
