import type { Evaluator } from '../language/policy.ts';
import { compilePattern, type PatternMatch } from '../language/state.ts';
import { matchPattern } from '../patterns/match-pattern.ts';

/** By evaluator, whether its pattern matches a text; null for one that has no pattern. */
export async function matchPatterns(
  evaluators: readonly Evaluator[],
  text: string,
  deadlineMs?: number,
): Promise<readonly PatternMatch[]> {
  const matches: PatternMatch[] = [];
  for (const evaluator of evaluators) {
    if (evaluator.kind !== 'pattern') matches.push(null);
    // The first one that takes too long fails the state, so that nobody asks for those after it.
    else if (matches.includes('timeout')) matches.push('timeout');
    else {
      const compiled = compilePattern(evaluator.pattern);
      // The file was checked when it was read; a pattern that has changed since and is wrong matches nothing.
      matches.push('problem' in compiled ? false : await matchPattern(compiled, text, deadlineMs));
    }
  }
  return matches;
}
