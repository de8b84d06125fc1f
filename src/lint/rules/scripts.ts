import { TAG_WORDS } from '../../language/transitions/index.ts';
import { CYCLE_RULES } from '../cycle-findings.ts';
import { defineStateRule, type LintLevel } from '../rule.ts';

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

/** A shell script has Windows line endings. */
export const crlfScript = defineStateRule({ id: 'crlf-script', level: 'error' }, (analysis) => {
  const at = analysis.file.endsWith('.sh') ? analysis.source.state.text.indexOf('\r\n') : -1;
  if (at === -1) return [];
  const message = 'the lines end in CR LF, and bash treats the CR as part of the last word';
  return [{ at: analysis.positionAt(at), message, hint: 'Save the file with LF line endings.' }];
});

/** A shell script has no `#!` line. */
export const noShebang = defineStateRule({ id: 'no-shebang', level: 'info' }, (analysis) => {
  const { origin, state } = analysis.source;
  // In a one-file workflow the key says what the script is for.
  if (origin !== undefined || !analysis.file.endsWith('.sh') || /^\uFEFF?#!/.test(state.text)) return [];
  const message = 'the script has no `#!` line; Raymond runs it with /bin/bash';
  return [{ at: analysis.positionAt(0), message, hint: 'Begin it with `#!/bin/bash`.' }];
});

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

const UNQUOTED = new RegExp(`^[ \\t]*(?:echo|printf)[ \\t]+(?:-\\w+[ \\t]+)*<(${TAG_WORDS.join('|')})\\b`, 'gim');

/** A shell script prints a tag without quotes, and bash treats `<` and `>` as redirections. */
export const unquotedTag = defineStateRule(
  { id: 'unquoted-tag', level: 'error', supersedes: ['bash-syntax', 'unreachable-state'] },
  (analysis) => {
    if (!analysis.file.endsWith('.sh')) return [];
    return [...analysis.source.state.text.matchAll(UNQUOTED)].map((found) => {
      const at = analysis.positionAt(found.index + found[0].lastIndexOf('<'));
      const message = `the <${found[1]?.toLowerCase()}> has no quotes around it: bash treats its brackets as redirections`;
      return { at, message, hint: 'Put the whole tag in quotes.' };
    });
  },
);

/** A script can come to its end without having printed a tag. */
export const silentPath = defineStateRule(
  { id: 'silent-path', level: 'warning', supersedes: ['unreachable-state', ...CYCLE_RULES] },
  (analysis, { graph }) => {
    const isExpected = analysis.source.state.rules.guards?.on.no_tag !== undefined;
    if (isExpected || (analysis.tags.length === 0 && analysis.unclosedTags.length === 0)) return [];
    // A gate that prints nothing confirms.
    if (graph.mereEvaluators.has(analysis.file)) return [];
    return (analysis.paths?.outputs ?? []).flatMap((output) => {
      if (output.kind !== 'nothing') return [];
      const { text } = analysis.source.state;
      const at = output.silentSince ?? Math.max(0, text.trimEnd().length - 1);
      const message = `the script can end without printing a tag, for example when ${describeSilence(text.slice(at))}`;
      const hint = 'Print exactly one transition on every path; there are no reminders for scripts.';
      return [{ at: analysis.positionAt(at), message, hint }];
    });
  },
);

/** Describes what happens where a tag could have been printed and was not. */
const describeSilence = (rest: string): string => CASES.find(([begin]) => begin.test(rest))?.[1] ?? 'it gets here';

const CASES: readonly (readonly [RegExp, string])[] = [
  [/^(?:exit|return)\b/, 'it exits here'],
  [/^if\b/, 'no condition of this `if` holds'],
  [/^case\b/, 'no pattern of this `case` fits'],
  [/^(?:for|while|until)\b/, 'this loop comes to its end'],
  [/^[^\n|&;]*&&/, 'this fails'],
  [/^[^\n|&;]*\|\|/, 'this succeeds'],
];
