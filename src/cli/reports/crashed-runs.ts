import { formatCount } from '../../render/format.ts';

/** Says that runs have lost their process, and how to continue; null if there are none. */
export function describeCrashedRuns(ids: readonly string[]): string | null {
  const [only, second] = ids;
  if (only === undefined) return null;
  return second === undefined
    ? `The process of ${only} has died. To continue: raymond resume ${only}`
    : `The processes of ${formatCount(ids.length, 'run')} have died. To continue with all of them: raymond recover --resume`;
}
