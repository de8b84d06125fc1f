import type { Evaluator } from './policy.ts';

/** True if a pattern matches an answer; `timeout` if that could not be found out in time, null for other evaluators. */
export type PatternMatch = boolean | 'timeout' | null;

/** The name of an evaluator for people: its file as the author wrote it, or its pattern. */
export function describeEvaluator(evaluator: Evaluator): string {
  if (evaluator.kind !== 'pattern') return evaluator.file;
  return `${evaluator.overridesOn === 'match' ? 'match' : 'unless'} \`${evaluator.pattern}\``;
}

/** The leading `(?i)`, `(?m)` or `(?s)` of a pattern, as other languages write its flags. */
const FLAGS = /^\(\?([ims]+)\)/;

/** Compiles a pattern, in which `^` and `$` stand for the ends of lines; a message says what is wrong with it. */
export function compilePattern(pattern: string): RegExp | { readonly problem: string } {
  const [prefix = '', flags = ''] = FLAGS.exec(pattern) ?? [];
  try {
    return new RegExp(pattern.slice(prefix.length), [...new Set(`m${flags}`)].join(''));
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
