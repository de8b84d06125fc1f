import type { LintLevel } from '../rule.ts';
import { defineStateRule } from '../rule.ts';

/** The program of a `#!` line, found by its path or through `env`, and what follows it. */
const PROGRAM = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(?:\S*\/)?(\S+)[ \t]*(.*)$/;

/** Other shells; scripts for the first three mean the same in bash. */
const SHELLS: Readonly<Record<string, LintLevel>> = {
  sh: 'info',
  dash: 'info',
  ash: 'info',
  ksh: 'warning',
  zsh: 'warning',
};

/** The `#!` line of a shell script asks for another shell than bash, or for options: it is not honored. */
export const otherShell = defineStateRule({ id: 'other-shell', level: 'warning' }, (analysis) => {
  const [first = ''] = analysis.source.state.text.replace(/^\uFEFF/, '').split('\n', 1);
  const line = first.trim();
  const [, program = '', options = ''] = PROGRAM.exec(line) ?? [];
  const level = program === 'bash' && options !== '' ? 'warning' : SHELLS[program];
  if (!analysis.file.endsWith('.sh') || level === undefined) return [];
  const message = `\`${line}\` has no effect: a .sh is run with /bin/bash, without options`;
  const hint = options === '' ? 'Write it for bash.' : `Write \`set ${options}\` on a line of its own.`;
  return [{ at: analysis.positionAt(0), message, hint, level }];
});
