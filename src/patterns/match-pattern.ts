import { type Computation, computeWithin } from '../deadline.ts';
import type { MatchRequest } from './matcher.ts';
import { isSurelyQuick } from './pattern-cost.ts';

const MATCH: Computation<MatchRequest, boolean> = { name: 'match_pattern', deadlineMs: 5_000 };

/** Searches a text for a pattern that somebody else wrote; `timeout` if the engine had to give up. */
export async function matchPattern(
  { source, flags }: RegExp,
  text: string,
  deadlineMs: number = MATCH.deadlineMs,
): Promise<boolean | 'timeout'> {
  if (isSurelyQuick(source, text.length)) return new RegExp(source, flags).test(text);
  const found = await computeWithin({ ...MATCH, deadlineMs }, { pattern: source, flags, text }).catch(() => null);
  return found !== null && 'value' in found ? found.value : 'timeout';
}
