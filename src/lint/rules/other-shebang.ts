import { defineStateRule } from '../rule.ts';

const SHELL = /^#!\s*(?:\S*\/)?(?:env\s+(?:-\S+\s+)*)?(?:\S*\/)?(?:bash|sh|dash|ash|ksh|zsh)\b/;

/** A shell script has a `#!` line for another interpreter than a shell. */
export const otherShebang = defineStateRule(
  { id: 'other-shebang', level: 'error', supersedes: ['bash-syntax'] },
  (analysis) => {
    const [line = ''] = analysis.source.state.text.replace(/^\uFEFF/, '').split('\n', 1);
    if (!analysis.file.endsWith('.sh') || !line.startsWith('#!') || SHELL.test(line)) return [];
    const message = `\`${line.trim()}\` has no effect: a .sh is run with /bin/bash`;
    const hint = 'Write it for bash, or call the other program from a short bash script.';
    return [{ at: analysis.positionAt(0), message, hint }];
  },
);
