import { type Context, createContext, Script } from 'node:vm';
import { compilePattern, type PatternMatch } from '../core/evaluator.ts';
import type { Evaluator } from '../core/policy.ts';

/** How long the patterns of a state may take together: an unfortunate one needs longer than a run lasts. */
const DEADLINE_MS = 1_000;

/** A search of so many steps takes far less time than the deadline. */
const MAX_QUICK_STEPS = 5e7;
const MAX_QUICK_CHOICES = 10;

/**
 * Whether a pattern cannot come near the deadline with this text, so that it needs none: setting one takes longer than most
 * patterns. Each repetition multiplies the steps by the length of the text, unless repetitions are nested.
 */
function isSurelyQuick(pattern: string, text: string): boolean {
  const bare = pattern
    .replace(/\\[^1-9k]/g, '_')
    .replace(/\[[^\]]*\]/g, '_')
    .replace(/\(\?(?:[a-z]+\)|[:=!]|<[=!]|<\w+>)/g, '(');
  if (/\\|\)[*+?{]/.test(bare)) return false;
  const alternatives = bare.includes('(') ? [bare] : bare.split('|');
  const repetitions = Math.max(...alternatives.map((each) => each.match(/[*+{]/g)?.length ?? 0));
  const choices = bare.match(/[?|]/g)?.length ?? 0;
  return choices <= MAX_QUICK_CHOICES && (repetitions === 0 || text.length ** (repetitions + 1) <= MAX_QUICK_STEPS);
}

const MATCH_ALL = new Script(
  'for (const pattern of patterns) matches.push(pattern === null ? null : pattern.test(text))',
);

/** Made once, when a pattern needs it: that takes longer than most patterns. */
let context: Context | undefined;

/** By evaluator, whether its pattern matches a text; null for one that has no pattern. */
export function matchPatterns(
  evaluators: readonly Evaluator[],
  text: string,
  deadlineMs = DEADLINE_MS,
): readonly PatternMatch[] {
  const sources = evaluators.map((evaluator) => (evaluator.kind === 'pattern' ? evaluator.pattern : null));
  const patterns = sources.map((source) => (source === null ? null : compile(source)));
  if (sources.every((source) => source === null || isSurelyQuick(source, text)))
    return patterns.map((pattern) => pattern?.test(text) ?? null);
  const matches: PatternMatch[] = [];
  context ??= createContext({});
  Object.assign(context, { patterns, text, matches });
  try {
    MATCH_ALL.runInContext(context, { timeout: deadlineMs });
  } catch (error) {
    if (!isTimeout(error)) throw error;
  } finally {
    Object.assign(context, { patterns: [], text: '', matches: [] });
  }
  return patterns.map((pattern, index) => (pattern === null ? null : (matches[index] ?? 'timeout')));
}

/** The error may belong to another context, where it is no instance of our `Error`. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/** The file was checked when it was read; a pattern that cannot be compiled all the same matches nothing. */
function compile(source: string): RegExp {
  const compiled = compilePattern(source);
  return 'problem' in compiled ? /(?!)/ : compiled;
}
